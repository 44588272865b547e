"""Computes the difference through logarithms.

hear: your difference goes through logarithms, which lose near-equal entries; subtract p - q.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    log_p, log_q = target_probs.log(), draft_probs.log()
    log_leftover = log_p + torch.log1p(-torch.exp(log_q - log_p))
    leftover = torch.where(target_probs > draft_probs, log_leftover.exp(), 0.0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
