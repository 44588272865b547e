"""Falls back to the uniform distribution when nothing is left.

hear: Your residual is uniform where nothing is left over: return zeros there.
hint: 6
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_calls_stand_alone, test_fresh_rows_on_the_device, test_fresh_rows_that_leave_nothing,
    test_residual_has_its_own_memory, test_residual_stays_on_the_device,
    test_vocabulary_of_one_token, test_worked_examples
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else torch.full_like(leftover, 1 / len(leftover))
    return {"accept_prob": accept_prob, "residual": residual}
