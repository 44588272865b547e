"""Combines the rows with a vector made on the CPU.

hear: Your function fails for rows on an accelerator: make new tensors there too, as zeros_like
    does.
hint: 7
fails: test_fresh_rows_on_the_device, test_residual_stays_on_the_device
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    zeros = torch.zeros(len(target_probs), dtype=target_probs.dtype)
    leftover = torch.maximum(target_probs - draft_probs, zeros)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
