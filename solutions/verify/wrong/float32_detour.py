"""Computes in float32 and converts back.

hear: your arithmetic goes through float32 and loses digits of float64 inputs.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = draft_probs.float(), target_probs.float()
    accept_prob = min(1.0, (target[drafted_token] / draft[drafted_token]).item())
    leftover = torch.clamp(target - draft, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual.to(target_probs.dtype)}
