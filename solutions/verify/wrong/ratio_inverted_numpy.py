"""Divides q by p.

hear: your ratio is upside down; it is the target's probability over the draft's.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = draft_probs[drafted_token] / max(target_probs[drafted_token], 1e-12)
    accept_prob = min(1.0, float(ratio))
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
