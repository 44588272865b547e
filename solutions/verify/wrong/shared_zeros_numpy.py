"""Hands out the same zero vector every time nothing is left.

hear: Your zeros are one array that every answer shares: make new ones in every call.
fails: test_fresh_calls_stand_alone, test_residual_has_its_own_memory
"""

from functools import cache

import numpy as np


@cache
def zeros(size, dtype):
    return np.zeros(size, dtype=dtype)


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else zeros(len(leftover), leftover.dtype)
    return {"accept_prob": accept_prob, "residual": residual}
