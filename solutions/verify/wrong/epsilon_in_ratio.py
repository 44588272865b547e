"""Adds 1e-10 to the denominator of the ratio.

hear: your ratio has an epsilon below the line; q[t] > 0 is promised, so divide by q[t] itself.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    p, q = target_probs[drafted_token].item(), draft_probs[drafted_token].item()
    accept_prob = min(1.0, p / (q + 1e-10))
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
