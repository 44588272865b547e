"""Selects with torch.where and replaces a zero divisor by one."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    difference = target_probs - draft_probs
    leftover = torch.where(difference > 0, difference, torch.zeros_like(difference))
    total = leftover.sum()
    safe_total = torch.where(total > 0, total, torch.ones_like(total))
    return {"accept_prob": accept_prob, "residual": leftover / safe_total}
