"""Keeps a token exactly when the target likes it at least as much as the draft, without a coin.

hear: You never toss the coin: a token with p < q must still be kept with probability p/q.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        if target_probs[i, t] >= draft_probs[i, t]:
            tokens.append(t)
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
