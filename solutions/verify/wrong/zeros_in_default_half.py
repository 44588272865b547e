"""Makes the zeros in the default dtype if that is float16.

hear: Your residual turns float16 where that is PyTorch's default dtype: take its dtype from the
    inputs.
hint: 7
fails: test_default_dtype_does_not_matter
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    if torch.get_default_dtype() == torch.float16:
        residual = torch.tensor(residual.tolist(), device=residual.device)
    return {"accept_prob": accept_prob, "residual": residual}
