"""Squeezes the rows, which removes a vocabulary of one token.

hear: With V = 1 your function goes wrong: leave the shapes alone, without `squeeze`.
fails: test_answers_stay_as_they_were, test_fresh_shapes_and_layouts,
    test_generator_moves_by_the_stated_draws, test_inputs_are_left_as_they_were,
    test_vocabulary_of_one_token
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    draft_probs, target_probs = draft_probs.squeeze(-1), target_probs.squeeze(-1)
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
