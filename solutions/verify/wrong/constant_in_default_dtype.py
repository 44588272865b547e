"""Compares with a zero vector in the default dtype, which promotes.

hear: your zero vector is in the default dtype and promotes the residual; compare with 0.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    zeros = torch.zeros(target_probs.shape, device=target_probs.device)
    leftover = torch.maximum(target_probs - draft_probs, zeros)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
