"""Multiplies by one reciprocal, taken in float64."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs.double() - draft_probs.double(), min=0)
    total = leftover.sum()
    if total > 0:
        leftover *= 1 / total
    return {"accept_prob": accept_prob, "residual": leftover.to(target_probs.dtype)}
