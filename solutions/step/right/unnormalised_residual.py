"""Leaves the residual as it is: multinomial takes weights of any scale."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        ratio = target_probs[i, t].item() / draft_probs[i, t].item()
        coin = torch.rand((), generator=generator, device=coin_device).item()
        if coin < ratio:
            tokens.append(t)
            continue
        weights = (target_probs[i] - draft_probs[i]).relu()
        if weights.sum().item() == 0.0:
            weights = target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
