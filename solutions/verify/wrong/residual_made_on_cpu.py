"""Builds the residual on the CPU.

hear: your residual is built on the CPU; pass device=target_probs.device.
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
