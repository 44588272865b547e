"""Takes a sum below 1e-8 for nothing left.

hear: your code calls a small sum zero; only a sum of exactly 0 gives the zero vector.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 1e-8 else torch.zeros_like(leftover)
    return {"accept_prob": accept_prob, "residual": residual}
