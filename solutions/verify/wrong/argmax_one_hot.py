"""Puts all mass on the token with the largest leftover.

hear: your residual keeps only its largest entry; every token with leftover mass keeps its share.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    residual = torch.zeros_like(leftover)
    if leftover.sum() > 0:
        residual[leftover.argmax()] = 1
    return {"accept_prob": accept_prob, "residual": residual}
