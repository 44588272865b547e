"""Switches gradients off with a decorator."""

import torch


@torch.no_grad()
def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    if total > 0:
        leftover /= total
    return {"accept_prob": min(1.0, ratio.item()), "residual": leftover}
