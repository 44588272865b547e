"""Gives the mean accept probability, the sum of min(p, q).

hear: your accept_prob averages over all tokens; only the drafted token's ratio counts.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = torch.minimum(target_probs, draft_probs).sum().item()
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
