"""The reference for `verify` with NumPy: one step at a time, each with its reason."""

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
    # Leave NumPy for Python floats before dividing: float() widens any dtype exactly, the quotient
    # is rounded once in double precision, and a ratio too large for float16 gives no warning.
    p_t, q_t = float(target_probs[drafted_token]), float(draft_probs[drafted_token])

    # The target may want more of the token than the draft gave (ratio above 1), and keeping it
    # always is the most one can do. 1.0 and not 1, because min returns its argument unchanged and
    # an int is not a float. q_t > 0 is promised, so nothing has to be added to it.
    accept_prob = min(1.0, p_t / q_t)

    # Where p <= q the accepted tokens already carry all of p; only the shortfall p - q of the other
    # tokens is left to hand out. Neither t nor accept_prob enters here. Both operations make a new
    # array (inputs untouched), and the Python number 0 leaves its dtype alone.
    leftover = np.maximum(target_probs - draft_probs, 0)

    # The sum of a float16 or float32 array is a scalar of that dtype, and dividing by it keeps the
    # dtype. A float64 scalar here would turn the whole residual into float64.
    total = leftover.sum()

    # Compare with exactly 0. Floating-point subtraction of two different numbers is never 0, so
    # any positive total, however tiny, is real leftover mass and normalises well: every entry is
    # at most the total. With no leftover mass 0 / 0 would be NaN, and `leftover`, all zeros, is
    # already the answer.
    if total > 0:
        leftover /= total

    return {"accept_prob": accept_prob, "residual": leftover}
