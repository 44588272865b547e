"""Takes the count from the loop variable, which an empty draft never sets.

hear: With K = 0 your function fails: the loop never runs, so draw the bonus token and return n = 0.
hint: 6
fails: test_answers_stay_as_they_were, test_default_generator_is_used_without_one,
    test_empty_draft_gives_a_bonus_alone, test_fresh_seeded_calls_follow_the_procedure,
    test_fresh_shapes_and_layouts, test_generator_moves_by_the_stated_draws,
    test_inputs_are_left_as_they_were
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
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i + 1
