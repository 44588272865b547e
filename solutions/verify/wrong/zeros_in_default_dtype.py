"""Builds the zero vector of the empty case in the default dtype.

hear: your zeros are in the library's default dtype; zeros_like keeps the inputs' dtype.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    if total == 0:
        residual = torch.zeros(len(target_probs), device=target_probs.device)
    else:
        residual = leftover / total
    return {"accept_prob": accept_prob, "residual": residual}
