"""Keeps only tokens the draft can propose.

hear: Your residual drops tokens with q = 0: there p - q is all of p, and it counts.
hint: 4
fails: test_accept_prob_is_a_python_float, test_fresh_calls_stand_alone,
    test_fresh_rows_are_left_alone, test_fresh_rows_of_simple_fractions,
    test_fresh_rows_with_many_zeros, test_fresh_softmax_rows, test_fresh_tiny_leftovers,
    test_inputs_are_left_alone, test_read_only_inputs, test_residual_has_its_own_memory,
    test_residual_ignores_the_drafted_token, test_rows_of_simple_fractions,
    test_tiny_leftovers_are_normalised, test_tokens_the_draft_never_proposes, test_worked_examples
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.where(draft_probs > 0, np.maximum(target_probs - draft_probs, 0), 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
