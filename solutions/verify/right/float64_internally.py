"""Computes everything in float64 and rounds once at the end."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = draft_probs.double(), target_probs.double()
    accept_prob = min(1.0, (target[drafted_token] / draft[drafted_token]).item())
    leftover = torch.clamp(target - draft, min=0)
    total = leftover.sum()
    if total > 0:
        leftover = leftover / total
    return {"accept_prob": accept_prob, "residual": leftover.to(target_probs.dtype)}
