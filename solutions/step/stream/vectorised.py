"""Draws all coins in one tensor and finds the first rejection without a loop.

hear: You draw all K coins at the start: toss each when its position is reached.
hint: 2
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    device = None if generator is None else generator.device
    positions = torch.arange(len(draft_tokens), device=draft_tokens.device)
    ids = draft_tokens.long()
    ratios = target_probs[positions, ids] / draft_probs[positions, ids]
    coins = torch.rand(len(draft_tokens), generator=generator, device=device)
    kept = (coins.to(ratios.device).double() < ratios.double().clamp(max=1)).long()
    n = int(kept.cumprod(0).sum())
    weights = target_probs[n]
    if n < len(draft_tokens):
        residual = (target_probs[n] - draft_probs[n]).clamp(min=0)
        weights = residual if residual.sum() > 0 else weights
    last = torch.multinomial(weights, 1, generator=generator)
    return torch.cat([ids[:n], last.to(ids.device)]), n
