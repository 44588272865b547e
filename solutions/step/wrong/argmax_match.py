"""Keeps a token exactly when it is the target's most likely one.

hear: You keep only the target's favourite token: that is greedy decoding, not sampling.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        if t == target_probs[i].argmax().item():
            tokens.append(t)
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
