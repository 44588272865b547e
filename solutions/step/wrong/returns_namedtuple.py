"""Returns a named tuple instead of a plain one.

hear: You return a named tuple: return a plain tuple (tokens, n).
hint: 7
fails: all
"""

from collections import namedtuple

import torch

Step = namedtuple("Step", ["tokens", "n"])


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
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return Step(torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i)
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return Step(
        torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
    )
