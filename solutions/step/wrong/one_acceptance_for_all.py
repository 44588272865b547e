"""Tests the product of all ratios once and keeps all drafted tokens or none.

hear: You accept the draft as a whole: each position has its own ratio and its own coin.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = draft_tokens.tolist()
    accept_prob = 1.0
    for i, t in enumerate(tokens):
        accept_prob *= min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
    coin = torch.rand((), generator=generator, device=coin_device)
    if coin.item() < accept_prob:
        weights = target_probs[-1]
    else:
        tokens = []
        residual = (target_probs[0] - draft_probs[0]).clamp(min=0)
        weights = residual if residual.sum() > 0 else target_probs[0]
    tokens.append(torch.multinomial(weights, 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
