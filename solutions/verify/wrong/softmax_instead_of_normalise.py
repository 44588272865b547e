"""Applies softmax to the leftover mass.

hear: Your residual is a softmax of the leftover mass: divide by the sum instead, so that zeros stay
    0.
hint: 5
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    residual = torch.softmax(leftover, dim=0)
    return {"accept_prob": accept_prob, "residual": residual}
