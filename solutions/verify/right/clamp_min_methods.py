"""Chains tensor methods: sub, clamp_min, div."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = ratio.clamp(max=1).item()
    leftover = target_probs.sub(draft_probs).clamp_min(0)
    total = leftover.sum()
    residual = leftover.div(total) if total.gt(0) else torch.zeros_like(leftover)
    return {"accept_prob": accept_prob, "residual": residual}
