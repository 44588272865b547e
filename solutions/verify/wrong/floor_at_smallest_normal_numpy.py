"""Floors the divisor at the smallest normal number of single or double precision.

hear: Your residual does not sum to 1 where next to nothing is left over: put no floor under the
    sum, not even finfo.tiny.
hint: 5
fails: test_fresh_tiny_leftovers, test_tiny_leftovers_are_normalised
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
