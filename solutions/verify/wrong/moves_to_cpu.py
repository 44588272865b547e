"""Moves both rows to the CPU and stays there.

hear: Your residual comes back on the CPU for rows on an accelerator: keep it on their device.
hint: 7
fails: test_fresh_rows_on_the_device, test_residual_stays_on_the_device
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs, target_probs = draft_probs.cpu(), target_probs.cpu()
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
