"""Adds an epsilon to q[t] that only subnormal numbers feel.

hear: your ratio has an epsilon in it, however small; q[t] is never 0, so divide by it as it is.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    epsilon = 1e-312 if target_probs.dtype == torch.float64 else 1e-42
    p_t, q_t = target_probs[drafted_token].item(), draft_probs[drafted_token].item()
    accept_prob = min(1.0, p_t / (q_t + epsilon))
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
