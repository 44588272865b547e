"""Subtracts in place from the target row and hands that row back.

hear: Your residual is the caller's target_probs, written over: compute it in a new array.
hint: 7
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_calls_stand_alone, test_fresh_rows_are_left_alone, test_fresh_rows_on_the_device,
    test_inputs_are_left_alone, test_read_only_inputs, test_residual_has_its_own_memory,
    test_rows_that_are_views, test_vocabulary_of_one_token
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = min(1.0, target_probs[drafted_token].item() / draft_probs[drafted_token].item())
    residual = target_probs.sub_(draft_probs).clamp_(min=0)
    total = residual.sum()
    if total > 0:
        residual.div_(total)
    return {"accept_prob": accept_prob, "residual": residual}
