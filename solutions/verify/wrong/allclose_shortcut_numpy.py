"""Returns zeros when the rows are merely close.

hear: your code takes nearly equal rows for equal; only a sum of exactly 0 gives the zero vector.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    if np.allclose(draft_probs, target_probs):
        residual = np.zeros_like(target_probs)
    else:
        leftover = np.maximum(target_probs - draft_probs, 0)
        total = leftover.sum()
        residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
