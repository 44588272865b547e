"""Remembers the accept probability by the tensor objects it was computed from.

hear: You use an earlier accept probability: the same tensors can hold other numbers now, so keep
    none.
fails: test_tensors_may_be_refilled_between_calls
"""

from functools import lru_cache

import torch


@lru_cache
def accept(draft_probs, target_probs, i, t):
    return min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = accept(draft_probs, target_probs, i, t)
        coin = torch.rand((), generator=generator, device=coin_device)
        if coin.item() < accept_prob:
            tokens.append(t)
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
