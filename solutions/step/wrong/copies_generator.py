"""Draws from a copy of the generator, so the caller's never moves.

hear: Your draws leave the given generator where it was: draw from itself, not from a copy.
fails: test_answers_come_as_often_as_they_should, test_calls_share_one_generator,
    test_default_generator_is_used_without_one, test_fresh_calls_share_one_generator,
    test_fresh_generator_states, test_generator_moves_by_the_stated_draws,
    test_residual_of_nothing_is_one_draw_from_the_target,
    test_tensors_may_be_refilled_between_calls, test_tokens_are_on_the_device_of_the_ids
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    source = torch.default_generator if generator is None else generator
    generator = torch.Generator(device=source.device)
    generator.set_state(source.get_state())
    coin_device = generator.device
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
