"""Adds 1e-8 to the divisor.

hear: your divisor has an epsilon added; a small sum is exact and needs none.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / (total + 1e-8) if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
