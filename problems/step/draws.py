"""What a seeded `torch.Generator` gives next, for many seeds in one message.

The checks build their cases from these numbers: an accept probability just below a coin, a weight
just above the one that would win. Nothing here decides anything, and nothing here is stored, so a
case always fits the PyTorch build that the submission runs in.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch


def coins(seeds: Sequence[int], count: int) -> torch.Tensor:
    """The first `count` uniform numbers `torch.rand(())` of every seed: (seeds, count), float32."""
    result = torch.empty((len(seeds), count), dtype=torch.float32)
    for row, seed in zip(result, seeds, strict=True):
        twin = _skip(seed, 0)
        for i in range(count):
            row[i] = torch.rand((), dtype=torch.float32, generator=twin)
    return result


def races(seeds: Sequence[int], before: Sequence[int], size: int) -> torch.Tensor:
    """What `torch.multinomial` over `size` weights divides them by, after `before[i]` coins.

    One pick is the index of the largest weight / E, with one standard exponential E an entry:
    (seeds, size), float64.
    """
    result = torch.empty((len(seeds), size), dtype=torch.float64)
    for row, seed, m in zip(result, seeds, before, strict=True):
        row.copy_(torch.empty(size, dtype=torch.float64).exponential_(generator=_skip(seed, m)))
    return result


def picks(
    seeds: Sequence[int], before: Sequence[int], sizes: Sequence[int], weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """For every seed, one pick after its number of coins, and the race that it was decided by.

    weights: one row of weights a seed, of the lengths `sizes`, one after the other in one flat
    tensor. Returns the picks, (seeds,) int64, and the exponentials, flat like the weights.
    """
    chosen = torch.empty(len(seeds), dtype=torch.int64)
    exponentials = torch.empty(weights.shape, dtype=torch.float64)
    start = 0
    for i, (seed, m, size) in enumerate(zip(seeds, before, sizes, strict=True)):
        twin = _skip(seed, m)
        state = twin.get_state()
        end = start + size
        chosen[i] = torch.multinomial(weights[start:end], 1, generator=twin)
        twin.set_state(state)
        exponentials[start:end] = torch.empty(size, dtype=torch.float64).exponential_(
            generator=twin
        )
        start = end
    return chosen, exponentials


def stream(
    seed: int, before: Sequence[int], sizes: Sequence[int], weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """One pick after another from one generator, `before[i]` coins ahead of each.

    weights: as in `picks`, one row a pick. Returns the picks, (picks,) int64, and the generator's
    state after each, (picks, bytes).
    """
    twin = _skip(seed, 0)
    chosen = torch.empty(len(before), dtype=torch.int64)
    left = []
    start = 0
    for i, (m, size) in enumerate(zip(before, sizes, strict=True)):
        for _ in range(m):
            torch.rand((), dtype=torch.float32, generator=twin)
        chosen[i] = torch.multinomial(weights[start : start + size], 1, generator=twin)
        left.append(twin.get_state())
        start += size
    return chosen, torch.stack(left)


def states(seeds: Sequence[int], before: Sequence[int], sizes: Sequence[int]) -> torch.Tensor:
    """Each generator's state after its coins and one pick of `sizes[i]` weights: (seeds, bytes)."""
    result = []
    for seed, m, size in zip(seeds, before, sizes, strict=True):
        twin = _skip(seed, m)
        torch.multinomial(torch.ones(size, dtype=torch.float32), 1, generator=twin)
        result.append(twin.get_state())
    return torch.stack(result)


def _skip(seed: int, coins: int) -> torch.Generator:
    """A generator seeded with `seed` that has given `coins` uniform numbers."""
    twin = torch.Generator()
    twin.manual_seed(seed)
    for _ in range(coins):
        torch.rand((), dtype=torch.float32, generator=twin)
    return twin
