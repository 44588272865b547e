"""`verify` with PyTorch: judge one drafted token and prepare its replacement."""

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
    raise NotImplementedError("write speculative_decode_step here")
