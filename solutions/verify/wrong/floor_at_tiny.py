"""Floors the divisor at the smallest normal number of the dtype.

hear: your divisor has a floor at finfo.tiny; half-precision sums can lie below it.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    residual = leftover / leftover.sum().clamp(min=torch.finfo(leftover.dtype).tiny)
    return {"accept_prob": accept_prob, "residual": residual}
