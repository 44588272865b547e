"""Adds 1e-8 to the divisor.

hear: your divisor has an epsilon added; a small sum is exact and needs none.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    residual = leftover / (leftover.sum() + 1e-8)
    return {"accept_prob": accept_prob, "residual": residual}
