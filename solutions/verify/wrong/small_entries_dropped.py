"""Treats entries below 1e-8 as zero.

hear: your residual throws small entries away; every positive difference counts.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    leftover = torch.where(leftover > 1e-8, leftover, torch.zeros_like(leftover))
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
