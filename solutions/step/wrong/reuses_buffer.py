"""Writes every answer into one buffer kept between calls.

hear: Your tokens are overwritten by a later call: build them in a new tensor every time.
hint: 7
fails: test_answers_stay_as_they_were, test_fresh_inputs_are_left_as_they_were
"""

import torch

BUFFER = torch.empty(4096, dtype=torch.int64)


def collect(tokens, device):
    out = BUFFER[: len(tokens)]
    for i, token in enumerate(tokens):
        out[i] = token
    return out.to(device)


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
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return collect(tokens, draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return collect(tokens, draft_tokens.device), len(tokens) - 1
