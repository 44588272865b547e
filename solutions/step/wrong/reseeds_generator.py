"""Sets the caller's generator back to its seed before drawing.

hear: Every call repeats the same random numbers: do not seed or reset the generator you are given.
fails: test_answers_come_as_often_as_they_should, test_calls_share_one_generator,
    test_fresh_calls_share_one_generator, test_tensors_may_be_refilled_between_calls
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    if generator is not None:
        generator.manual_seed(generator.initial_seed())
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
