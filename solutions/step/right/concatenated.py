"""Joins the kept ids and the drawn one with torch.cat, whose type promotion gives int64."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    device = draft_tokens.device
    n = 0
    for q, p, t in zip(draft_probs, target_probs[:-1], draft_tokens.tolist(), strict=True):
        u = torch.rand((), generator=generator, device=generator.device if generator else None)
        if u.item() < p[t].item() / q[t].item():
            n += 1
            continue
        diff = p - q
        weights = torch.where(diff > 0, diff, torch.zeros_like(diff))
        if weights.sum() == 0:
            weights = p
        replacement = torch.multinomial(weights, 1, generator=generator)
        return torch.cat([draft_tokens[:n], replacement.to(device)]), n
    bonus = torch.multinomial(target_probs[n], 1, generator=generator)
    return torch.cat([draft_tokens[:n], bonus.to(device)]), n
