"""Returns one kept buffer for V above 8.

hear: With a larger vocabulary a later call overwrites your tokens: build a new tensor every time.
hint: 7
fails: test_answers_stay_as_they_were, test_fresh_inputs_are_left_as_they_were
"""

import torch

BUFFER = torch.empty(256, dtype=torch.int64)


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    tokens, n = decode(draft_probs, target_probs, draft_tokens, generator)
    if target_probs.shape[1] > 8:
        tokens = BUFFER[: n + 1].copy_(tokens)
    return tokens, n


def decode(draft_probs, target_probs, draft_tokens, generator):
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
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
