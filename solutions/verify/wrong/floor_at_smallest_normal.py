"""Floors the divisor at the smallest normal number of single or double precision.

hear: Your residual does not sum to 1 where next to nothing is left over: put no floor under the
    sum, not even finfo.tiny.
hint: 5
fails: test_fresh_tiny_leftovers, test_tiny_leftovers_are_normalised
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    wide = torch.float64 if target_probs.dtype == torch.float64 else torch.float32
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum(dtype=wide)
    floored = torch.clamp(total, min=torch.finfo(wide).tiny)
    residual = (leftover / floored).to(target_probs.dtype)
    return {"accept_prob": accept_prob, "residual": residual}
