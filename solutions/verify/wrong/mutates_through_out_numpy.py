"""Writes the difference into the target row with out=.

hear: Your function changes target_probs: work in new arrays, not in place.
hint: 4
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_rows_are_left_alone, test_inputs_are_left_alone, test_read_only_inputs,
    test_rows_that_are_views, test_vocabulary_of_one_token
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.subtract(target_probs, draft_probs, out=target_probs)
    residual = np.maximum(leftover, 0)
    total = residual.sum()
    if total > 0:
        residual /= total
    return {"accept_prob": accept_prob, "residual": residual}
