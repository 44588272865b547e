"""Divides by half the L1 distance.

hear: your divisor is half the L1 distance, equal only on paper; divide by the leftover's own sum.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = torch.abs(target_probs - draft_probs).sum() / 2
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
