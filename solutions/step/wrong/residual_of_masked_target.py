"""Draws the replacement from the target where it exceeds the draft.

hear: Your replacement is drawn with weight p where p > q: what is left over there is p - q.
hint: 4
fails: test_answers_come_as_often_as_they_should, test_coin_is_drawn_where_the_generator_lives,
    test_default_generator_is_used_without_one, test_fresh_calls_share_one_generator,
    test_fresh_last_token_is_one_draw, test_fresh_seeded_calls_follow_the_procedure,
    test_replacement_is_one_draw_from_the_residual, test_seeded_calls_follow_the_procedure,
    test_tokens_are_on_the_device_of_the_ids
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, target_probs[i, t].item() / draft_probs[i, t].item())
        coin = torch.rand((), generator=generator).item()
        if coin < accept_prob:
            tokens.append(t)
            continue
        weights = target_probs[i].where(target_probs[i] > draft_probs[i], torch.zeros_like(target_probs[i]))
        if weights.sum() <= 0:
            weights = target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens), len(draft_tokens)
