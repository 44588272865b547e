"""Returns zeros when the rows are merely close.

hear: Your residual is zero where the rows are merely close: only a sum of exactly 0 leaves nothing.
hint: 6
fails: test_fresh_nearly_equal_rows, test_fresh_tiny_leftovers, test_nearly_equal_rows,
    test_residual_stays_on_the_device, test_slight_differences_count,
    test_tiny_leftovers_are_normalised
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    if torch.allclose(draft_probs, target_probs):
        residual = torch.zeros_like(target_probs)
    else:
        leftover = torch.clamp(target_probs - draft_probs, min=0)
        total = leftover.sum()
        residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
