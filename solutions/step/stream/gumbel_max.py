"""Draws the last token as the largest log-weight plus Gumbel noise.

hear: Your last token is not what torch.multinomial draws: call it once, with generator=generator.
hint: 5
"""

import torch


def draw(weights, generator):
    device = None if generator is None else generator.device
    u = torch.rand(weights.shape, generator=generator, device=device, dtype=torch.float64)
    noise = -torch.log(-torch.log(u))
    return int((weights.double().log() + noise.to(weights.device)).argmax())


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
        tokens.append(draw(weights, generator))
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(draw(target_probs[-1], generator))
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
