"""Multiplies by 1 / sum, which overflows in half precision.

hear: Your residual is not finite where 1 / sum overflows, in float16: divide by the sum instead.
hint: 5
fails: test_fresh_tiny_leftovers, test_tiny_leftovers_are_normalised
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover * total.reciprocal() if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
