"""Draws a random number it does not need.

hear: Your function moves a global random generator: nothing here is random, so draw and seed
    nothing.
fails: test_equal_rows_leave_nothing, test_fresh_calls_stand_alone, test_nothing_is_random
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    torch.rand(())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
