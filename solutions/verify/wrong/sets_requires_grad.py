"""Turns on gradients on an input.

hear: Your function sets requires_grad on target_probs: leave the inputs' flags as they came.
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_rows_are_left_alone, test_fresh_rows_on_the_device, test_inputs_are_left_alone,
    test_read_only_inputs, test_vocabulary_of_one_token
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    target_probs.requires_grad_()
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs.detach() - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
