"""Writes ratio and residual with the mass both distributions share, min(p, q)."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = generator.device if generator is not None else torch.device("cpu")
    shared = torch.minimum(target_probs[:-1], draft_probs)
    out = []
    weights = target_probs[-1]
    for i in range(len(draft_tokens)):
        t = int(draft_tokens[i])
        accept_prob = float(shared[i, t]) / float(draft_probs[i, t])
        if float(torch.rand((), generator=generator, device=coin_device)) < accept_prob:
            out.append(t)
            continue
        weights = target_probs[i] - shared[i]
        mass = weights.sum()
        weights = weights / mass if mass > 0 else target_probs[i]
        break
    out.append(int(torch.multinomial(weights, 1, generator=generator)))
    return torch.tensor(out, dtype=torch.int64, device=draft_tokens.device), len(out) - 1
