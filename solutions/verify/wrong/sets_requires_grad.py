"""Turns on gradients on an input.

hear: your code sets requires_grad on target_probs; leave the inputs' flags as they came.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    target_probs.requires_grad_()
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs.detach() - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
