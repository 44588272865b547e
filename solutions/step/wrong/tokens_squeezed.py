"""Squeezes the tokens, which turns a single one into a 0-d tensor.

hear: A single token comes back without a dimension: leave out the squeeze, tokens are always 1-D.
hint: 7
fails: test_answer_is_tokens_and_a_count, test_answers_come_as_often_as_they_should,
    test_answers_stay_as_they_were, test_calls_share_one_generator,
    test_coin_decides_at_each_position, test_coin_equal_to_the_accept_probability_rejects,
    test_coin_is_drawn_where_the_generator_lives, test_default_generator_is_used_without_one,
    test_empty_draft_gives_a_bonus_alone, test_first_rejection_ends_the_answer,
    test_forbidden_token_is_replaced, test_fresh_answers_are_possible_ones,
    test_fresh_calls_share_one_generator, test_fresh_coins_decide, test_fresh_generator_states,
    test_fresh_inputs_are_left_as_they_were, test_fresh_last_token_is_one_draw,
    test_fresh_rows_with_one_possible_answer, test_fresh_seeded_calls_follow_the_procedure,
    test_fresh_shapes_and_layouts, test_generator_is_optional,
    test_generator_moves_by_the_stated_draws, test_global_generators_stay_untouched,
    test_half_precision_rows, test_inputs_are_left_as_they_were, test_large_vocabularies,
    test_replacement_is_one_draw_from_the_residual,
    test_residual_of_nothing_falls_back_to_the_target,
    test_residual_of_nothing_is_one_draw_from_the_target, test_seeded_calls_follow_the_procedure,
    test_tensors_may_be_refilled_between_calls, test_tiny_residual_counts_in_full,
    test_tokens_are_on_the_device_of_the_ids, test_vocabulary_of_one_token, test_worked_examples
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
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device).squeeze(), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device).squeeze(), len(
        tokens
    ) - 1
