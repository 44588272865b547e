"""Builds the zero vector of the empty case in the default dtype.

hear: Your zeros are in the library's default dtype: zeros_like keeps the dtype of the inputs.
hint: 7
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
    residual = leftover / total if total > 0 else np.zeros(len(target_probs))
    return {"accept_prob": accept_prob, "residual": residual}
