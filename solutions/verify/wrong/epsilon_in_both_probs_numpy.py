"""Adds 1e-10 to both probabilities of the ratio.

hear: Your accept_prob is too large where p[t] is 0 and q[t] tiny: q[t] > 0 is promised, so add
    nothing.
fails: test_accept_prob_is_a_python_float, test_different_rows_may_leave_nothing,
    test_fresh_large_vocabulary, test_fresh_rare_tokens, test_fresh_rows_are_left_alone,
    test_fresh_rows_of_simple_fractions, test_fresh_rows_that_leave_nothing,
    test_fresh_rows_with_every_token, test_fresh_rows_with_many_zeros, test_fresh_softmax_rows,
    test_inputs_are_left_alone, test_large_vocabulary, test_nothing_is_random,
    test_rare_tokens_are_judged_by_their_ratio, test_residual_has_its_own_memory,
    test_residual_ignores_the_drafted_token, test_residual_is_an_array_like_the_inputs,
    test_rows_of_simple_fractions, test_softmax_rows, test_tokens_the_draft_never_proposes
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    p_t, q_t = float(target_probs[drafted_token]), float(draft_probs[drafted_token])
    ratio = (p_t + 1e-10) / (q_t + 1e-10)
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
