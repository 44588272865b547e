"""Builds the zero vector of the empty case in the default dtype.

hear: Your zeros are in the library's default dtype: zeros_like keeps the dtype of the inputs.
hint: 7
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_rows_that_leave_nothing, test_residual_stays_on_the_device,
    test_vocabulary_of_one_token
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    if total == 0:
        residual = torch.zeros(len(target_probs), device=target_probs.device)
    else:
        residual = leftover / total
    return {"accept_prob": accept_prob, "residual": residual}
