"""One sampled step of speculative decoding: keep a prefix of the draft, then add one token.

The rule is that of Leviathan et al. 2023 (arXiv 2211.17192, algorithm 1) and Chen et al. 2023
(arXiv 2302.01318, algorithm 2): what comes out is distributed as if the target had sampled
alone. Not here: running the two models, drafting the tokens, keeping a cache.
"""

import torch


def speculative_decode_step(
    draft_probs: torch.Tensor,
    target_probs: torch.Tensor,
    draft_tokens: torch.Tensor,
    generator: torch.Generator | None = None,
) -> tuple[torch.Tensor, int]:
    """Verify K drafted tokens and return what one speculative decoding step produces.

    Args:
        draft_probs: the draft distributions q, a floating tensor of shape (K, V). Row i is the
            distribution that ``draft_tokens[i]`` was drawn from. K may be 0; V is at least 1.
        target_probs: the target distributions p, shape (K + 1, V), same dtype and device as
            ``draft_probs``. Row i belongs to drafted position i, the last row to the bonus token.
            Both hold probabilities (each row sums to one), not logits.
        draft_tokens: the drafted token ids, an integer tensor of shape (K,), int64 or narrower,
            each with ``draft_probs[i, draft_tokens[i]] > 0``.
        generator: the ``torch.Generator`` every random number comes from; None means PyTorch's
            default generator.

    Returns:
        A tuple ``(tokens, n)``. ``tokens`` is a 1-D int64 tensor with the kept draft tokens
        followed by one more: the replacement of the first rejected token, or the bonus token if
        none was rejected. ``n`` is the number of drafted tokens kept, an int from 0 to K, so
        ``tokens`` has n + 1 entries. The three input tensors are left as they were.

    Example:
        >>> q = torch.tensor([[0.1, 0.6, 0.1, 0.1, 0.1]])
        >>> p = torch.tensor([[0.1, 0.6, 0.1, 0.1, 0.1], [0.2, 0.2, 0.2, 0.3, 0.1]])
        >>> generator = torch.Generator().manual_seed(0)
        >>> speculative_decode_step(q, p, torch.tensor([1]), generator)
        (tensor([1, 1]), 1)
    """
    # `torch.rand` refuses a generator of another device, so the coin is made where the generator
    # lives. Without a generator, None leaves the choice (and the default generator) to PyTorch.
    coin_device = None if generator is None else generator.device

    tokens: list[int] = []
    for i, t in enumerate(draft_tokens.tolist()):
        # How much of the draft's mass on t the target also has. Python floats hold every input
        # dtype exactly, so the division is rounded once, in double precision, even for bfloat16.
        # draft_probs[i, t] > 0 is promised: t could not have been drafted otherwise.
        accept_prob = min(1.0, target_probs[i, t].item() / draft_probs[i, t].item())

        # One coin for each position we reach. Its dtype is named: in half precision it would be a
        # coarse grid, and in float64 another number out of the same generator.
        coin = torch.rand((), generator=generator, device=coin_device, dtype=torch.float32)

        # Strictly below. The coin lies in [0, 1) and may be exactly 0, so `<` never keeps a token
        # the target forbids (0 < 0 is false) and always keeps one with accept probability 1.
        if coin.item() < accept_prob:
            tokens.append(t)
            continue

        # First rejection. Position i has already handed out min(q, p) through kept tokens; what
        # is missing to make the total p is exactly the positive part of p - q.
        # Both operations make new tensors: an in-place one would write into the caller's rows.
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)

        # Divide by the plain sum, without an epsilon: the leftover may be tiny in absolute terms
        # and still be the whole answer. (multinomial would normalise by itself; dividing makes it
        # the residual distribution of the papers.)
        # Exact rows that differ always leave something over. Rounded ones may not: with p <= q
        # everywhere and both sums rounded to one, 0 / 0 would follow. The two rows then agree up
        # to rounding, so the target row is the right thing to draw from.
        total = residual.sum()
        weights = residual / total if total > 0 else target_probs[i]
        replacement = torch.multinomial(weights, 1, generator=generator)

        # The later drafts were made for a text that began with the rejected token: they are void.
        tokens.append(int(replacement.item()))
        return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), i

    # Nothing was rejected (or nothing was drafted). The target has been evaluated after the last
    # draft as well, so one more token is free. Nobody proposed it, so there is nothing to reject.
    bonus = torch.multinomial(target_probs[-1], 1, generator=generator)
    tokens.append(int(bonus.item()))
    # Built from Python ints: int64 whatever the ids came as, and no memory of the caller's.
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
