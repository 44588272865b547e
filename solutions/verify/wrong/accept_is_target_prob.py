"""Uses p[t] alone as the accept probability.

hear: your accept_prob is p[t]; it is the ratio p[t] / q[t], capped at 1.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = target_probs[drafted_token].item()
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
