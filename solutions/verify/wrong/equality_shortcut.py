"""Looks for equal rows and forgets that p <= q can hold without.

hear: Your residual is NaN where p <= q everywhere but p != q: ask whether the sum is 0 instead.
hint: 6
fails: test_different_rows_may_leave_nothing, test_fresh_rows_on_the_device,
    test_fresh_rows_that_leave_nothing, test_residual_has_its_own_memory
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    if torch.equal(draft_probs, target_probs):
        residual = torch.zeros_like(target_probs)
    else:
        leftover = torch.clamp(target_probs - draft_probs, min=0)
        residual = leftover / leftover.sum()
    return {"accept_prob": accept_prob, "residual": residual}
