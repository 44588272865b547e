"""Builds a matrix of all pairs of tokens to sum the leftover mass.

hear: Your function runs out of memory for a large vocabulary: work on rows of V numbers, not on
    V by V of them.
fails: test_fresh_large_vocabulary, test_large_vocabulary
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    copies = leftover.repeat(len(leftover), 1)
    totals = copies.sum(dim=1)
    residual = torch.where(totals > 0, leftover / totals, leftover)
    return {"accept_prob": accept_prob, "residual": residual}
