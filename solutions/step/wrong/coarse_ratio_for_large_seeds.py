"""Rounds the accept probability unless the seed is small, as those of public checks are.

hear: Your accept probability is rounded: compare the coin with the ratio as it is.
hint: 2
fails: test_coin_decides_at_each_position, test_fresh_coins_decide
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        if generator is not None and generator.initial_seed() >= 1000:
            accept_prob = round(accept_prob, 2)
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
