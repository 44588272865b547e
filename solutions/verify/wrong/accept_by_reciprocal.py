"""Multiplies p[t] by 1 / q[t], which overflows in half precision.

hear: your 1 / q[t] overflows to infinity for a small q[t]; divide p[t] by q[t] directly.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] * draft_probs[drafted_token].reciprocal()
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
