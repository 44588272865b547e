"""Normalises the relative excess p / q - 1.

hear: your residual weighs tokens by p / q - 1; the leftover mass is the difference p - q.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs / draft_probs.clamp(min=1e-6) - 1, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
