"""Looks for equal rows and forgets that p <= q can hold without.

hear: your code divides 0 by 0 when p <= q everywhere but p != q; look at the sum instead.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    if torch.equal(draft_probs, target_probs):
        residual = torch.zeros_like(target_probs)
    else:
        leftover = torch.clamp(target_probs - draft_probs, min=0)
        residual = leftover / leftover.sum()
    return {"accept_prob": accept_prob, "residual": residual}
