"""Tosses one coin and uses it at every position.

hear: All your positions share one coin: toss a fresh one at each position you reach.
hint: 2
fails: test_answers_come_as_often_as_they_should, test_bonus_is_one_draw_from_the_last_row,
    test_calls_share_one_generator, test_coin_decides_at_each_position,
    test_default_generator_is_used_without_one, test_fresh_calls_share_one_generator,
    test_fresh_coins_decide, test_fresh_generator_states, test_fresh_last_token_is_one_draw,
    test_fresh_seeded_calls_follow_the_procedure, test_generator_moves_by_the_stated_draws,
    test_replacement_is_one_draw_from_the_residual,
    test_residual_of_nothing_is_one_draw_from_the_target, test_seeded_calls_follow_the_procedure,
    test_tensors_may_be_refilled_between_calls
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    coin = torch.rand((), generator=generator, device=coin_device)
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
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
