"""Counts tokens from one.

hear: your accept_prob is that of the token before; token ids count from 0.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    token = drafted_token - 1
    ratio = target_probs[token] / draft_probs[token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
