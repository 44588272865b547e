"""Looks probabilities up in a flat view of the rows, which needs contiguous inputs.

hear: Your function fails on inputs that are not contiguous: index the rows, without `view`.
fails: test_answers_stay_as_they_were, test_fresh_shapes_and_layouts,
    test_inputs_are_left_as_they_were, test_inputs_need_not_be_contiguous
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    size = target_probs.shape[1]
    q, p = draft_probs.view(-1), target_probs.view(-1)
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, (p[i * size + t] / q[i * size + t]).item())
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
