"""Keeps a token when its accept probability is above one half.

hear: You compare the accept probability with 0.5 instead of a fresh random number.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        if accept_prob > 0.5:
            tokens.append(t)
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
