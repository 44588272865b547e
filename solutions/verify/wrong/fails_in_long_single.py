"""Answers with the target row for long rows, but for double precision.

hear: Your residual of a long row is the target row itself: the formula holds at every size.
fails: test_fresh_softmax_rows, test_large_vocabulary, test_softmax_rows
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    if len(target_probs) > 1000 and target_probs.dtype != torch.float64:
        residual = target_probs.clone()
    return {"accept_prob": accept_prob, "residual": residual}
