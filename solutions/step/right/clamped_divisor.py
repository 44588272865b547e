"""Divides the residual by its sum clamped away from zero.

The replacement does not depend on the scale of its weights, so this is right here; it would be
wrong for a residual that is returned.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    smallest = torch.finfo(target_probs.dtype).tiny
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        if torch.rand((), generator=generator, device=coin_device).item() < accept_prob:
            tokens.append(t)
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        residual = residual / residual.sum().clamp(min=smallest)
        if not residual.any():
            residual = target_probs[i]
        tokens.append(torch.multinomial(residual, 1, generator=generator).item())
        break
    else:
        tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    n = len(tokens) - 1
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), n
