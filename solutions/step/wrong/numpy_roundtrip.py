"""Computes the residual in NumPy, which has no bfloat16.

hear: Your function fails for bfloat16 rows, which NumPy does not know: stay in PyTorch.
fails: test_answers_stay_as_they_were, test_coin_is_drawn_where_the_generator_lives,
    test_fresh_generator_states, test_fresh_inputs_are_left_as_they_were,
    test_generator_is_optional, test_generator_moves_by_the_stated_draws, test_half_precision_rows,
    test_inputs_are_left_as_they_were, test_inputs_need_not_be_contiguous, test_large_vocabularies,
    test_residual_of_nothing_falls_back_to_the_target, test_tiny_residual_counts_in_full,
    test_tokens_are_on_the_device_of_the_ids
"""

import numpy as np
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
        p, q = target_probs[i].numpy(), draft_probs[i].numpy()
        residual = torch.from_numpy(np.maximum(p - q, 0))
        weights = residual if residual.sum() > 0 else target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
