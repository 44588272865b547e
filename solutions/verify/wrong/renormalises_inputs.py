"""Rescales both rows to sum to one first.

hear: Your residual is off where the rows nearly agree, as if they were rescaled first: use them as
    given.
fails: test_fresh_nearly_equal_rows, test_nearly_equal_rows
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs = draft_probs / draft_probs.sum()
    target_probs = target_probs / target_probs.sum()
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
