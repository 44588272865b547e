"""Walks the draft with a while loop and a flag."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    k = draft_probs.size(0)
    n = 0
    rejected = False
    while n < k and not rejected:
        t = draft_tokens[n].item()
        u = torch.rand((), generator=generator, device=coin_device).item()
        rejected = u * draft_probs[n, t].item() >= target_probs[n, t].item()
        if not rejected:
            n += 1

    weights = target_probs[n]
    if rejected:
        leftover = torch.clamp(weights - draft_probs[n], min=0)
        if leftover.max() > 0:
            weights = leftover
    tokens = torch.empty(n + 1, dtype=torch.int64, device=draft_tokens.device)
    tokens[:n] = draft_tokens[:n]
    tokens[n] = torch.multinomial(weights, 1, generator=generator).item()
    return tokens, n
