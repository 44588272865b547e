"""Computes everything but the coin in float64."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    q = draft_probs.to(torch.float64)
    p = target_probs.to(torch.float64)
    ids = draft_tokens.tolist()
    device = None if generator is None else generator.device

    n = 0
    weights = p[len(ids)]
    for i, t in enumerate(ids):
        ratio = p[i, t] / q[i, t]
        u = torch.rand((), generator=generator, device=device)
        if u.double().item() >= min(ratio.item(), 1.0):
            weights = torch.relu(p[i] - q[i])
            if not weights.sum() > 0:
                weights = p[i]
            break
        n += 1

    last = torch.multinomial(weights, num_samples=1, generator=generator).item()
    return torch.tensor([*ids[:n], last], dtype=torch.int64, device=draft_tokens.device), n
