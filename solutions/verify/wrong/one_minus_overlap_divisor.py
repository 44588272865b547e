"""Divides by 1 - sum of min(p, q).

hear: Your residual is off where the rows nearly agree: divide by the sum of max(p - q, 0) itself,
    not by an expression that equals it on paper.
hint: 5
fails: test_fresh_nearly_equal_rows, test_fresh_tiny_leftovers, test_nearly_equal_rows,
    test_residual_stays_on_the_device, test_tiny_leftovers_are_normalised
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = 1 - torch.minimum(target_probs, draft_probs).sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
