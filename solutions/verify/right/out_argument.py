"""Writes every step into one tensor of its own with out=."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    residual = torch.empty_like(target_probs, memory_format=torch.contiguous_format)
    torch.sub(target_probs, draft_probs, out=residual)
    torch.clamp(residual, min=0, out=residual)
    total = residual.sum()
    if total > 0:
        torch.div(residual, total, out=residual)
    return {"accept_prob": accept_prob, "residual": residual}
