"""Floors the divisor at 1e-6.

hear: your divisor has a floor and small sums fall below it; divide by the sum itself.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    residual = leftover / leftover.sum().clamp(min=1e-6)
    return {"accept_prob": accept_prob, "residual": residual}
