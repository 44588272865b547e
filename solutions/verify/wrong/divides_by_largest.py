"""Divides the leftover by its largest entry.

hear: Your residual is divided by its largest entry: divide it by its sum.
hint: 5
fails: test_fresh_calls_stand_alone, test_fresh_large_vocabulary, test_fresh_nearly_equal_rows,
    test_fresh_rows_are_left_alone, test_fresh_rows_of_simple_fractions,
    test_fresh_rows_on_the_device, test_fresh_rows_with_every_token,
    test_fresh_rows_with_many_zeros, test_fresh_softmax_rows, test_fresh_tiny_leftovers,
    test_inputs_are_left_alone, test_large_vocabulary, test_nearly_equal_rows,
    test_nothing_is_random, test_read_only_inputs, test_residual_has_its_own_memory,
    test_residual_ignores_the_drafted_token, test_residual_stays_on_the_device,
    test_rows_may_be_refilled, test_rows_of_simple_fractions, test_rows_that_are_views,
    test_slight_differences_count, test_softmax_rows, test_tiny_leftovers_are_normalised,
    test_tokens_the_draft_never_proposes, test_worked_examples
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = min(1.0, target_probs[drafted_token].item() / draft_probs[drafted_token].item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.max()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
