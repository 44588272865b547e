"""Normalises the residual over the positions instead of the vocabulary.

hear: Your residual is scaled token by token: divide all of row i by one number, the sum of the row.
hint: 5
fails: test_answers_come_as_often_as_they_should, test_calls_share_one_generator,
    test_default_generator_is_used_without_one, test_fresh_calls_share_one_generator,
    test_fresh_last_token_is_one_draw, test_fresh_seeded_calls_follow_the_procedure,
    test_replacement_is_one_draw_from_the_residual, test_seeded_calls_follow_the_procedure
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    leftover = (target_probs[:-1] - draft_probs).clamp(min=0)
    leftover = (leftover / leftover.sum(dim=0)).nan_to_num()
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        coin = torch.rand((), generator=generator, device=coin_device)
        if coin.item() < accept_prob:
            tokens.append(t)
            continue
        residual = leftover[i]
        weights = residual if residual.sum() > 0 else target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
