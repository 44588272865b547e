"""Hands out the same zero vector every time nothing is left.

hear: Your zeros are one array that every answer shares: make new ones in every call.
fails: test_fresh_calls_stand_alone, test_residual_has_its_own_memory
"""

from functools import cache

import torch


@cache
def zeros(size, dtype, device):
    return torch.zeros(size, dtype=dtype, device=device)


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    if total > 0:
        residual = leftover / total
    else:
        residual = zeros(len(leftover), leftover.dtype, leftover.device)
    return {"accept_prob": accept_prob, "residual": residual}
