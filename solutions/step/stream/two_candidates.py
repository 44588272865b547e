"""Draws two tokens from the weights and uses the first.

hear: You draw two tokens and use one: make one torch.multinomial(weights, 1, generator=generator).
hint: 5
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        coin = torch.rand((), generator=generator, device=coin_device)
        if coin.item() < accept_prob:
            tokens.append(t)
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        pair = torch.multinomial(weights, 2, replacement=True, generator=generator)
        tokens.append(pair[0].item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    pair = torch.multinomial(target_probs[-1], 2, replacement=True, generator=generator)
    tokens.append(pair[0].item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
