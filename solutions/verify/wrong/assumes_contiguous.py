"""Reads the storage of each row with a step of one.

hear: Your answer is wrong for rows that are not contiguous: index the tensor, not its storage.
fails: test_fresh_rows_are_left_alone, test_inputs_are_left_alone, test_rows_that_are_views
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    size = (len(target_probs),)
    q = torch.as_strided(draft_probs, size, (1,))
    p = torch.as_strided(target_probs, size, (1,))
    leftover = torch.clamp(p - q, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {
        "accept_prob": min(1.0, (p[drafted_token] / q[drafted_token]).item()),
        "residual": residual,
    }
