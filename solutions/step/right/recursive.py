"""Verifies the first token and leaves the rest of the draft to a call of itself."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    if len(draft_tokens) == 0:
        bonus = torch.multinomial(target_probs[0], 1, generator=generator)
        return bonus.to(draft_tokens.device), 0

    q, p, t = draft_probs[0], target_probs[0], draft_tokens[0].item()
    coin_device = None if generator is None else generator.device
    coin = torch.rand((), generator=generator, device=coin_device).item()
    if coin >= p[t].item() / q[t].item():
        residual = (p - q).clamp(min=0)
        weights = residual if residual.sum() > 0 else p
        return torch.multinomial(weights, 1, generator=generator).to(draft_tokens.device), 0

    rest, n = speculative_decode_step(
        draft_probs[1:], target_probs[1:], draft_tokens[1:], generator
    )
    return torch.cat([draft_tokens[:1].long(), rest]), n + 1
