"""Keeps a token whose accept probability is above 0.95 whatever the coin.

hear: You keep a token that is likely enough without its coin: compare the coin however large a is.
hint: 2
fails: test_coin_decides_at_each_position, test_coin_is_drawn_where_the_generator_lives,
    test_tokens_are_on_the_device_of_the_ids
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, target_probs[i, t].item() / draft_probs[i, t].item())
        coin = torch.rand((), generator=generator).item()
        if coin < accept_prob or accept_prob > 0.95:
            tokens.append(t)
            continue
        weights = (target_probs[i] - draft_probs[i]).clamp(min=0)
        if weights.sum() <= 0:
            weights = target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens), len(draft_tokens)
