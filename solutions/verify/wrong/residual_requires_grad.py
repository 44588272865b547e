"""Asks for gradients on the residual.

hear: Your residual has requires_grad set: it is a result, so leave gradients off.
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    residual.requires_grad_()
    return {"accept_prob": accept_prob, "residual": residual}
