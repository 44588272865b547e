"""Divides by 1 - accept_prob of the drafted token.

hear: your divisor is 1 - accept_prob, which is about one token; divide by the leftover's own sum.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    residual = leftover / (1 - accept_prob) if accept_prob < 1 else torch.zeros_like(leftover)
    return {"accept_prob": accept_prob, "residual": residual}
