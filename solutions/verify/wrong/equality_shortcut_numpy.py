"""Looks for equal rows and forgets that p <= q can hold without.

hear: Your residual is NaN where p <= q everywhere but p != q: ask whether the sum is 0 instead.
hint: 6
fails: test_different_rows_may_leave_nothing, test_fresh_rows_that_leave_nothing,
    test_residual_has_its_own_memory
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
