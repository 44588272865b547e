"""Draws a last token for every position in one batch, then picks that of the right one.

hear: You draw a last token for every position: draw one alone, once it is known where the draft
    ends.
hint: 5
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    residuals = (target_probs[:-1] - draft_probs).clamp(min=0)
    empty = residuals.sum(dim=1, keepdim=True) == 0
    residuals = torch.where(empty, target_probs[:-1], residuals)
    weights = torch.cat([residuals, target_probs[-1:]])
    n = len(draft_tokens)
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        coin = torch.rand((), generator=generator, device=coin_device)
        if coin.item() >= accept_prob:
            n = i
            break
    last = torch.multinomial(weights, 1, generator=generator)[n]
    return torch.cat([draft_tokens[:n].long(), last.to(draft_tokens.device)]), n
