"""Draws the bonus token from a residual instead of the last target row.

hear: Your bonus comes from a residual: nobody proposed it, so draw it from the last target row as
    it is.
hint: 6
fails: test_answers_come_as_often_as_they_should, test_bonus_is_one_draw_from_the_last_row,
    test_calls_share_one_generator, test_default_generator_is_used_without_one,
    test_fresh_calls_share_one_generator, test_fresh_last_token_is_one_draw,
    test_fresh_seeded_calls_follow_the_procedure, test_seeded_calls_follow_the_procedure,
    test_tensors_may_be_refilled_between_calls, test_worked_examples
"""

import torch


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
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    weights = target_probs[-1]
    if tokens:
        residual = (weights - draft_probs[-1]).clamp(min=0)
        weights = residual if residual.sum() > 0 else weights
    tokens.append(torch.multinomial(weights, 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
