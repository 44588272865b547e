"""Adds 1e-10 to the divisor when it is not zero.

hear: your divisor has an epsilon added; a small sum is exact and needs none.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / (total + 1e-10) if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
