"""Moves both rows to the CPU and stays there.

hear: your rows move to the CPU and stay there; compute on the device they came on.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs, target_probs = draft_probs.cpu(), target_probs.cpu()
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
