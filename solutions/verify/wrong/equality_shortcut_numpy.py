"""Looks for equal rows and forgets that p <= q can hold without.

hear: your code divides 0 by 0 when p <= q everywhere but p != q; look at the sum instead.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    if np.array_equal(draft_probs, target_probs):
        residual = np.zeros_like(target_probs)
    else:
        leftover = np.maximum(target_probs - draft_probs, 0)
        residual = leftover / leftover.sum()
    return {"accept_prob": accept_prob, "residual": residual}
