"""Treats entries below 1e-8 as zero.

hear: Your residual is 0 where p exceeds q by little: every positive difference counts, however
    small.
fails: test_fresh_large_vocabulary, test_fresh_nearly_equal_rows, test_fresh_rare_tokens,
    test_fresh_softmax_rows, test_fresh_tiny_leftovers, test_large_vocabulary,
    test_nearly_equal_rows, test_residual_stays_on_the_device, test_slight_differences_count,
    test_softmax_rows, test_tiny_leftovers_are_normalised
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    leftover = torch.where(leftover > 1e-8, leftover, torch.zeros_like(leftover))
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
