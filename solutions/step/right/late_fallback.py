"""Asks whether the residual is empty only after dividing by its sum.

Full marks, but not the extra credit for a zero residual: 0 / 0 is NaN by then, and NaN is not <= 0.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, target_probs[i, t].item() / draft_probs[i, t].item())
        if torch.rand((), generator=generator, device=coin_device).item() < accept_prob:
            tokens.append(t)
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        residual = residual / residual.sum()
        if residual.sum() <= 0:
            residual = target_probs[i]
        tokens.append(torch.multinomial(residual, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
