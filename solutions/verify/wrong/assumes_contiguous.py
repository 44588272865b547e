"""Reads the storage of each row with a step of one.

hear: your code reads memory with a step of one; columns and expanded rows have other strides.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    size = (len(target_probs),)
    q = torch.as_strided(draft_probs, size, (1,))
    p = torch.as_strided(target_probs, size, (1,))
    leftover = torch.clamp(p - q, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {
        "accept_prob": min(1.0, (p[drafted_token] / q[drafted_token]).item()),
        "residual": residual,
    }
