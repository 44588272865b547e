"""One sampled step of speculative decoding: keep a prefix of the draft, then add one token.

Fill in the function below; `grade show step` prints the full statement.
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
    raise NotImplementedError("speculative_decode_step is not written yet")
