"""Divides with where= into an array that holds ones.

hear: Your residual is ones where nothing is left over: return zeros there (out= holds what stays).
hint: 6
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_calls_stand_alone, test_fresh_rows_that_leave_nothing,
    test_residual_has_its_own_memory, test_vocabulary_of_one_token, test_worked_examples
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = np.divide(leftover, total, out=np.ones_like(leftover), where=total > 0)
    return {"accept_prob": accept_prob, "residual": residual}
