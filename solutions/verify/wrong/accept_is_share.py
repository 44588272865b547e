"""Uses the share of the target in the sum of both.

hear: Your accept_prob is p[t] / (p[t] + q[t]): divide by q[t] alone, and cap the ratio at 1.
hint: 2
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    p, q = target_probs[drafted_token].item(), draft_probs[drafted_token].item()
    accept_prob = p / (p + q)
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
