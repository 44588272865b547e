"""Applies softmax to the inputs.

hear: Your numbers are those of rows put through a softmax: the inputs are probabilities already.
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs = torch.softmax(draft_probs, dim=0)
    target_probs = torch.softmax(target_probs, dim=0)
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
