"""Takes a sum below 1e-8 for nothing left.

hear: Your residual is zero where little is left over: only a sum of exactly 0 leaves nothing.
hint: 6
fails: test_fresh_nearly_equal_rows, test_fresh_tiny_leftovers, test_nearly_equal_rows,
    test_residual_stays_on_the_device, test_slight_differences_count,
    test_tiny_leftovers_are_normalised
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 1e-8 else torch.zeros_like(leftover)
    return {"accept_prob": accept_prob, "residual": residual}
