"""Draws a bonus token on every rejection as well and throws it away.

hear: After a rejection you draw once more, and the generator moves on: return with the replacement.
hint: 3
fails: test_calls_share_one_generator, test_default_generator_is_used_without_one,
    test_fresh_calls_share_one_generator, test_fresh_generator_states,
    test_generator_moves_by_the_stated_draws, test_residual_of_nothing_is_one_draw_from_the_target,
    test_tensors_may_be_refilled_between_calls
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    kept = []
    replacement = None
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (target_probs[i, t] / draft_probs[i, t]).item())
        coin = torch.rand((), generator=generator, device=coin_device)
        if coin.item() < accept_prob:
            kept.append(t)
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        replacement = torch.multinomial(weights, 1, generator=generator).item()
        break
    bonus = torch.multinomial(target_probs[-1], 1, generator=generator).item()
    tokens = [*kept, bonus if replacement is None else replacement]
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(kept)
