"""Raises an error when nothing is left.

hear: your function raises when nothing is left; return zeros there.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    if total == 0:
        raise ValueError("no probability mass is left")
    residual = leftover / total
    return {"accept_prob": accept_prob, "residual": residual}
