"""Rounds the accept probability to four digits.

hear: Your accept_prob is rounded to a few digits: return it as it was computed.
fails: test_accept_prob_is_a_python_float, test_fresh_calls_stand_alone,
    test_fresh_large_vocabulary, test_fresh_nearly_equal_rows, test_fresh_rare_tokens,
    test_fresh_rows_are_left_alone, test_fresh_rows_of_simple_fractions,
    test_fresh_rows_with_every_token, test_fresh_rows_with_many_zeros, test_fresh_softmax_rows,
    test_inputs_are_left_alone, test_large_vocabulary, test_nearly_equal_rows,
    test_nothing_is_random, test_read_only_inputs, test_rows_of_simple_fractions,
    test_slight_differences_count, test_softmax_rows, test_tokens_the_draft_never_proposes
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = round(min(1.0, ratio), 4)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
