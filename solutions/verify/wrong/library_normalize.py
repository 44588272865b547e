"""Normalises with F.normalize, whose divisor has a floor of 1e-12.

hear: Your residual does not sum to 1 where little is left over: put no floor under the sum, and use
    no normaliser that has one.
hint: 5
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_nearly_equal_rows, test_fresh_rows_that_leave_nothing, test_fresh_tiny_leftovers,
    test_nearly_equal_rows, test_residual_stays_on_the_device, test_slight_differences_count,
    test_tiny_leftovers_are_normalised, test_vocabulary_of_one_token
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    residual = torch.nn.functional.normalize(leftover, p=1, dim=0)
    return {"accept_prob": accept_prob, "residual": residual}
