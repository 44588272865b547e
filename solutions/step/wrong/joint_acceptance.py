"""Multiplies the accept probabilities of all positions so far.

hear: Your accept probability gets smaller from position to position: it is min(1, p/q) of that
    position alone.
hint: 2
fails: test_answers_come_as_often_as_they_should, test_coin_decides_at_each_position,
    test_coin_is_drawn_where_the_generator_lives, test_default_generator_is_used_without_one,
    test_fresh_coins_decide, test_fresh_seeded_calls_follow_the_procedure,
    test_seeded_calls_follow_the_procedure, test_tokens_are_on_the_device_of_the_ids
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    so_far = 1.0
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = so_far * min(1.0, target_probs[i, t].item() / draft_probs[i, t].item())
        so_far = accept_prob
        coin = torch.rand((), generator=generator).item()
        if coin < accept_prob:
            tokens.append(t)
            continue
        weights = (target_probs[i] - draft_probs[i]).clamp(min=0)
        if weights.sum() <= 0:
            weights = target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens), len(draft_tokens)
