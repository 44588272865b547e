"""Compares logarithms instead of the ratio and the coin."""

import math

import torch


def log(x):
    return math.log(x) if x > 0 else -math.inf


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        coin = torch.rand((), generator=generator, device=coin_device)
        log_accept = min(0.0, log(target_probs[i, t].item()) - log(draft_probs[i, t].item()))
        if log(coin.item()) < log_accept:
            tokens.append(t)
            continue
        weights = (target_probs[i] - draft_probs[i]).clamp(min=0)
        if weights.sum() == 0:
            weights = target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
