"""Sums the leftover mass again for every entry, once the row is too long for one go.

hear: Your function takes too long for a large vocabulary: compute the sum once, not for every
    entry.
fails: test_large_vocabulary
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    if len(leftover) > 2**16:
        masses = leftover.tolist()
        residual = torch.tensor([mass / sum(masses) for mass in masses], dtype=leftover.dtype)
        return {"accept_prob": accept_prob, "residual": residual.to(leftover.device)}
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
