"""Indexes with the id tensors themselves, of which uint8 is a mask.

hear: Your function goes wrong for ids narrower than int32: take the ids out as Python ints, by
    .tolist().
fails: test_ids_of_any_integer_dtype_give_int64_tokens, test_large_vocabularies
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    for i, t in enumerate(draft_tokens):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        coin = torch.rand((), generator=generator, device=coin_device)
        if coin.item() < accept_prob:
            tokens.append(t.item())
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
