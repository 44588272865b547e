"""Adds 1e-12 to the sum before dividing.

hear: Your residual is too small where little is left over: add nothing to the sum it is divided by.
hint: 5
fails: test_accept_prob_is_a_python_float, test_different_rows_may_leave_nothing,
    test_equal_rows_leave_nothing, test_fresh_nearly_equal_rows, test_fresh_rows_are_left_alone,
    test_fresh_rows_of_simple_fractions, test_fresh_rows_that_leave_nothing,
    test_fresh_rows_with_every_token, test_fresh_rows_with_many_zeros, test_fresh_softmax_rows,
    test_fresh_tiny_leftovers, test_inputs_are_left_alone, test_nearly_equal_rows,
    test_nothing_is_random, test_residual_ignores_the_drafted_token,
    test_residual_is_an_array_like_the_inputs, test_rows_of_simple_fractions,
    test_slight_differences_count, test_softmax_rows, test_tiny_leftovers_are_normalised,
    test_tokens_the_draft_never_proposes, test_vocabulary_of_one_token
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = min(1.0, float(target_probs[drafted_token]) / float(draft_probs[drafted_token]))
    leftover = np.maximum(target_probs - draft_probs, 0)
    residual = leftover / (leftover.sum() + 1e-12)
    return {"accept_prob": accept_prob, "residual": residual}
