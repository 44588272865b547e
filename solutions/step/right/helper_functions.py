"""Splits the step into small typed helpers."""

import torch
from torch import Tensor


def accept_probability(q: Tensor, p: Tensor, t: int) -> float:
    return min(1.0, (p[t].double() / q[t].double()).item())


def residual(q: Tensor, p: Tensor) -> Tensor:
    """The leftover mass, normalised; the target row where rounding left nothing over."""
    leftover = (p - q).clamp_min(0)
    mass = leftover.sum()
    return leftover / mass if mass > 0 else p


def toss(generator: torch.Generator | None) -> float:
    if generator is None:
        return torch.rand(()).item()
    return torch.rand((), generator=generator, device=generator.device).item()


def sample(probs: Tensor, generator: torch.Generator | None) -> int:
    return int(torch.multinomial(probs, num_samples=1, generator=generator).item())


def speculative_decode_step(
    draft_probs: Tensor,
    target_probs: Tensor,
    draft_tokens: Tensor,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, int]:
    drafted = [int(t) for t in draft_tokens]
    n = 0
    while n < len(drafted) and toss(generator) < accept_probability(
        draft_probs[n], target_probs[n], drafted[n]
    ):
        n += 1
    if n < len(drafted):
        last = sample(residual(draft_probs[n], target_probs[n]), generator)
    else:
        last = sample(target_probs[n], generator)
    tokens = torch.tensor([*drafted[:n], last], dtype=torch.int64, device=draft_tokens.device)
    return tokens, n
