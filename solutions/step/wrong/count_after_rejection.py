"""Counts drafted tokens that would be kept after the first rejection, too.

hear: Your n counts tokens behind the first rejection: only the kept ones before it count.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    drafted = draft_tokens.tolist()
    accepted = []
    for i, t in enumerate(drafted):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        coin = torch.rand((), generator=generator, device=coin_device)
        accepted.append(coin.item() < accept_prob)
    if all(accepted):
        weights = target_probs[-1]
        tokens = drafted
    else:
        i = accepted.index(False)
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        tokens = drafted[:i]
    tokens.append(torch.multinomial(weights, 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), sum(accepted)
