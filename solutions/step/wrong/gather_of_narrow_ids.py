"""Gathers the probabilities of all drafted tokens, for which ids must be int64.

hear: Your function fails for ids that are not int64: widen them with .long(), or take them out by
    .tolist().
fails: test_answers_stay_as_they_were, test_ids_of_any_integer_dtype_give_int64_tokens,
    test_inputs_are_left_as_they_were, test_large_vocabularies
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    ids = draft_tokens.unsqueeze(1)
    ratios = (target_probs[:-1].gather(1, ids) / draft_probs.gather(1, ids)).squeeze(1)
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, ratios[i].item())
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
