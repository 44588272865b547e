"""Rounds the residual to six digits.

hear: your residual is rounded; return it as it was computed.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    residual = np.array([round(x, 6) for x in residual.tolist()], dtype=residual.dtype)
    return {"accept_prob": accept_prob, "residual": residual}
