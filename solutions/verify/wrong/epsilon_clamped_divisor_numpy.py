"""Floors the divisor at 1e-6.

hear: your divisor has a floor and small sums fall below it; divide by the sum itself.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    residual = leftover / np.maximum(leftover.sum(), 1e-6)
    return {"accept_prob": accept_prob, "residual": residual}
