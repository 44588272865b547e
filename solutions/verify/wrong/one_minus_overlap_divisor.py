"""Divides by 1 - sum of min(p, q).

hear: your divisor is 1 minus the accepted mass and cancels; divide by the leftover's own sum.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = 1 - torch.minimum(target_probs, draft_probs).sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
