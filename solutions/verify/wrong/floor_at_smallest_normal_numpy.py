"""Floors the divisor at the smallest normal number of single or double precision.

hear: your divisor has a floor at finfo.tiny; a sum below the smallest normal number is a sum as well.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    wide = np.float64 if target_probs.dtype == np.float64 else np.float32
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = max(leftover.sum(dtype=wide), np.finfo(wide).tiny)
    residual = (leftover / total).astype(target_probs.dtype)
    return {"accept_prob": accept_prob, "residual": residual}
