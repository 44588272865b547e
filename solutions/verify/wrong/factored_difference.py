"""Computes p - q as p (1 - q / p), which divides 0 by 0.

hear: Your residual is NaN where both rows are 0, as q / p is: subtract the rows themselves, p - q.
hint: 4
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_calls_stand_alone, test_fresh_nearly_equal_rows, test_fresh_rows_are_left_alone,
    test_fresh_rows_of_simple_fractions, test_fresh_rows_on_the_device,
    test_fresh_rows_that_leave_nothing, test_fresh_rows_with_many_zeros, test_fresh_softmax_rows,
    test_fresh_tiny_leftovers, test_inputs_are_left_alone, test_nearly_equal_rows,
    test_nothing_is_random, test_read_only_inputs, test_residual_has_its_own_memory,
    test_residual_stays_on_the_device, test_rows_of_simple_fractions,
    test_tiny_leftovers_are_normalised, test_tokens_the_draft_never_proposes
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = target_probs * torch.clamp(1 - draft_probs / target_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
