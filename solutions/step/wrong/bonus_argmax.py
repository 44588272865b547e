"""Takes the most likely token of the last target row as the bonus.

hear: Your bonus is the last row's largest entry: draw it at random from that row.
hint: 6
fails: test_answers_come_as_often_as_they_should, test_bonus_is_one_draw_from_the_last_row,
    test_calls_share_one_generator, test_default_generator_is_used_without_one,
    test_fresh_calls_share_one_generator, test_fresh_generator_states,
    test_fresh_last_token_is_one_draw, test_fresh_seeded_calls_follow_the_procedure,
    test_generator_moves_by_the_stated_draws, test_seeded_calls_follow_the_procedure,
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
    tokens.append(target_probs[-1].argmax().item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
