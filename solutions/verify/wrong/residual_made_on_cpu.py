"""Builds the residual on the CPU.

hear: Your residual comes back on the CPU for rows on an accelerator: keep it on their device.
hint: 7
fails: test_fresh_rows_on_the_device, test_residual_stays_on_the_device
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = draft_probs.tolist(), target_probs.tolist()
    accept_prob = min(1.0, target[drafted_token] / draft[drafted_token])
    leftover = [max(p - q, 0.0) for p, q in zip(target, draft, strict=True)]
    total = sum(leftover)
    values = [mass / total for mass in leftover] if total > 0 else leftover
    residual = torch.tensor(values, dtype=target_probs.dtype)
    return {"accept_prob": accept_prob, "residual": residual}
