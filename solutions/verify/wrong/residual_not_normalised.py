"""Does not divide the leftover mass.

hear: your residual does not sum to 1; divide the leftover mass by its sum.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    return {"accept_prob": accept_prob, "residual": leftover}
