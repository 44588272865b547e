"""Makes the zeros in the default dtype if that is float16.

hear: your residual takes PyTorch's default dtype where that is float16; take it from the inputs.
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
