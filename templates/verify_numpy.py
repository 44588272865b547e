"""`verify` with NumPy: judge one drafted token and prepare its replacement."""

import numpy as np


def speculative_decode_step(
    draft_probs: np.ndarray,
    target_probs: np.ndarray,
    drafted_token: int,
) -> dict[str, float | np.ndarray]:
    """Return the accept probability of a drafted token and the residual distribution.

    Args:
        draft_probs: q, the draft model's probabilities (no unit). Shape (V,), V >= 1, any
            floating dtype.
        target_probs: p, the target model's probabilities over the same vocabulary. Same shape
            and dtype as `draft_probs`.
        drafted_token: t, the token id the draft model proposed. A Python int, 0 <= t < V, with
            q[t] > 0.

    Returns:
        A dict with exactly two entries:
        "accept_prob": min(1, p[t] / q[t]), a Python float.
        "residual": max(p - q, 0) divided by its sum, or zeros where that sum is 0. An array of
            shape (V,) with the dtype of the inputs and memory of its own.

    Example:
        >>> q = np.array([0.8, 0.2], dtype=np.float32)
        >>> p = np.array([0.4, 0.6], dtype=np.float32)
        >>> speculative_decode_step(q, p, 0)
        {'accept_prob': 0.5, 'residual': array([0., 1.], dtype=float32)}
    """
    raise NotImplementedError("write speculative_decode_step here")
