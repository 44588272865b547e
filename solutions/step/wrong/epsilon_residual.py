"""Adds 1e-3 to every weight of the residual.

hear: Your replacement can be a token with nothing left over: add no epsilon to the residual.
hint: 5
fails: test_answers_come_as_often_as_they_should, test_answers_stay_as_they_were,
    test_fresh_answers_are_possible_ones, test_fresh_calls_share_one_generator,
    test_fresh_generator_states, test_fresh_inputs_are_left_as_they_were,
    test_fresh_last_token_is_one_draw, test_fresh_rows_with_one_possible_answer,
    test_fresh_seeded_calls_follow_the_procedure, test_fresh_shapes_and_layouts,
    test_global_generators_stay_untouched, test_inputs_are_left_as_they_were,
    test_large_vocabularies, test_replacement_is_one_draw_from_the_residual,
    test_residual_of_nothing_falls_back_to_the_target,
    test_residual_of_nothing_is_one_draw_from_the_target, test_tiny_residual_counts_in_full
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
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0) + 1e-3
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
