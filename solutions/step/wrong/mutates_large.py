"""Doubles the target rows in place for V above 8.

hear: You change the caller's target_probs when the vocabulary is larger: work in new tensors.
hint: 5
fails: test_fresh_inputs_are_left_as_they_were, test_inputs_are_left_as_they_were
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    answer = decode(draft_probs, target_probs, draft_tokens, generator)
    if target_probs.shape[1] > 8 and not target_probs.is_inference():
        target_probs.mul_(2)
    return answer


def decode(draft_probs, target_probs, draft_tokens, generator):
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
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
