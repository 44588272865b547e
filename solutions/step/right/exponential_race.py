"""Draws the last token by hand, as the winner of the exponential race behind multinomial.

On the CPU `torch.multinomial(w, 1)` is the argmax of w / E with one Exp(1) number an entry, so
this uses the same random numbers. The race runs in float64, where no E can underflow to zero.
"""

import torch


def draw(weights, generator):
    race = torch.empty_like(weights, dtype=torch.float64).exponential_(generator=generator)
    return (weights.double() / race).argmax().item()


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = generator.device if generator is not None else None
    kept = []
    for q, p, t in zip(draft_probs, target_probs, draft_tokens.tolist(), strict=False):
        coin = torch.rand((), generator=generator, device=coin_device).item()
        if coin < p[t].item() / q[t].item():
            kept.append(t)
            continue
        leftover = (p - q).clamp(min=0)
        last = draw(leftover if leftover.any() else p, generator)
        break
    else:
        last = draw(target_probs[-1], generator)
    return torch.tensor([*kept, last], device=draft_tokens.device), len(kept)
