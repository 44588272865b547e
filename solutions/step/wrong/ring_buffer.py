"""Returns one of 16 kept buffers in turn.

hear: Your tokens are overwritten by a later call: build them in a new tensor every time.
hint: 7
fails: test_answers_stay_as_they_were, test_fresh_inputs_are_left_as_they_were,
    test_tokens_are_on_the_device_of_the_ids
"""

import torch

BUFFERS = [torch.empty(256, dtype=torch.int64) for _ in range(16)]


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    tokens, n = decode(draft_probs, target_probs, draft_tokens, generator)
    BUFFERS.append(BUFFERS.pop(0))
    return BUFFERS[-1][: n + 1].copy_(tokens), n


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
