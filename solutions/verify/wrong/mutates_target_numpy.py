"""Subtracts in place from the target row.

hear: your code changes target_probs in place; subtract into a new array.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    target_probs -= draft_probs
    residual = np.maximum(target_probs, 0)
    total = residual.sum()
    if total > 0:
        residual /= total
    return {"accept_prob": accept_prob, "residual": residual}
