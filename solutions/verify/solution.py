"""The reference for `verify` with PyTorch: one step at a time, each with its reason."""

import torch


def speculative_decode_step(
    draft_probs: torch.Tensor,
    target_probs: torch.Tensor,
    drafted_token: int,
) -> dict[str, float | torch.Tensor]:
    """Return the accept probability of a drafted token and the residual distribution.

    Args:
        draft_probs: q, the draft model's probabilities (no unit). Shape (V,), V >= 1, any
            floating dtype, any device.
        target_probs: p, the target model's probabilities over the same vocabulary. Same shape,
            dtype and device as `draft_probs`.
        drafted_token: t, the token id the draft model proposed. A Python int, 0 <= t < V, with
            q[t] > 0.

    Returns:
        A dict with exactly two entries:
        "accept_prob": min(1, p[t] / q[t]), a Python float.
        "residual": max(p - q, 0) divided by its sum, or zeros where that sum is 0. A tensor of
            shape (V,) with the dtype and device of the inputs and memory of its own.

    Example:
        >>> q, p = torch.tensor([0.8, 0.2]), torch.tensor([0.4, 0.6])
        >>> speculative_decode_step(q, p, 0)
        {'accept_prob': 0.5, 'residual': tensor([0., 1.])}
    """
    # Leave PyTorch for Python floats before dividing: .item() widens any dtype exactly, the
    # quotient is rounded once in double precision, and a ratio too large for float16 is no trouble.
    p_t, q_t = target_probs[drafted_token].item(), draft_probs[drafted_token].item()

    # The target may want more of the token than the draft gave (ratio above 1), and keeping it
    # always is the most one can do. 1.0 and not 1, because min returns its argument unchanged and
    # an int is not a float. q_t > 0 is promised, so nothing has to be added to it.
    accept_prob = min(1.0, p_t / q_t)

    # Where p <= q the accepted tokens already carry all of p; only the shortfall p - q of the other
    # tokens is left to hand out. Neither t nor accept_prob enters here. The subtraction makes a new
    # tensor (inputs untouched, dtype and device kept), so working in place on it is safe.
    leftover = (target_probs - draft_probs).clamp_(min=0)

    # The sum stays a tensor on the inputs' device: no constant made elsewhere can change the dtype
    # or meet the wrong device.
    total = leftover.sum()

    # Compare with exactly 0. Floating-point subtraction of two different numbers is never 0, so
    # any positive total, however tiny, is real leftover mass and normalises well: every entry is
    # at most the total. With no leftover mass 0 / 0 would be NaN, and `leftover`, all zeros, is
    # already the answer.
    if total > 0:
        leftover.div_(total)

    return {"accept_prob": accept_prob, "residual": leftover}
