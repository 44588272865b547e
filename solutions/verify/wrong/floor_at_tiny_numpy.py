"""Floors the divisor at the smallest normal number of the dtype.

hear: your divisor has a floor at finfo.tiny; half-precision sums can lie below it.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    residual = leftover / np.maximum(leftover.sum(), np.finfo(leftover.dtype).tiny)
    return {"accept_prob": accept_prob, "residual": residual}
