"""Turns the sum into a Python float early."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = min(target_probs[drafted_token].item() / draft_probs[drafted_token].item(), 1.0)
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum().item()
    if total == 0.0:
        return {"accept_prob": accept_prob, "residual": leftover}
    return {"accept_prob": accept_prob, "residual": leftover / total}
