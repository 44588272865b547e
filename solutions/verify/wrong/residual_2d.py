"""Adds an axis of length one to the residual.

hear: Your residual has an axis too many: its shape is (V,), like that of the inputs.
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    residual = residual.unsqueeze(0)
    return {"accept_prob": accept_prob, "residual": residual}
