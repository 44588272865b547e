"""Subtracts the draft row from the target row in place.

hear: You change the caller's target_probs: compute the residual in a new tensor, not in place.
hint: 5
fails: test_fresh_inputs_are_left_as_they_were, test_inputs_are_left_as_they_were
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
        row = target_probs[i].clone()
        residual = target_probs[i]
        residual -= draft_probs[i]
        residual.clamp_(min=0)
        total = residual.sum()
        weights = residual / total if total > 0 else row
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
