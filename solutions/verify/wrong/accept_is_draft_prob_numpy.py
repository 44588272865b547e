"""Uses q[t] alone as the accept probability.

hear: Your accept_prob is q[t] alone: it is p[t] divided by q[t], capped at 1.
hint: 2
fails: test_accept_prob_is_a_python_float, test_different_rows_may_leave_nothing,
    test_equal_rows_leave_nothing, test_fresh_calls_stand_alone, test_fresh_large_vocabulary,
    test_fresh_nearly_equal_rows, test_fresh_rare_tokens, test_fresh_rows_are_left_alone,
    test_fresh_rows_of_simple_fractions, test_fresh_rows_that_leave_nothing,
    test_fresh_rows_with_every_token, test_fresh_rows_with_many_zeros, test_fresh_softmax_rows,
    test_inputs_are_left_alone, test_large_vocabulary, test_nearly_equal_rows,
    test_nothing_is_random, test_rare_tokens_are_judged_by_their_ratio, test_read_only_inputs,
    test_residual_has_its_own_memory, test_residual_ignores_the_drafted_token,
    test_residual_is_an_array_like_the_inputs, test_returns_a_dict_of_two_entries,
    test_rows_may_be_refilled, test_rows_of_simple_fractions, test_rows_that_are_views,
    test_slight_differences_count, test_softmax_rows, test_tokens_the_draft_never_proposes,
    test_vocabulary_of_one_token, test_worked_examples
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = float(draft_probs[drafted_token])
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
