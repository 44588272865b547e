"""Normalises with F.normalize, whose divisor has a floor of 1e-12.

hear: your normaliser floors its divisor at 1e-12; divide by the sum itself.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    residual = torch.nn.functional.normalize(leftover, p=1, dim=0)
    return {"accept_prob": accept_prob, "residual": residual}
