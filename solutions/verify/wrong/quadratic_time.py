"""Sums the leftover mass again for every entry.

hear: your sum is computed again for every entry, V times too often; compute it once.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = draft_probs.tolist(), target_probs.tolist()
    accept_prob = min(1.0, target[drafted_token] / draft[drafted_token])
    leftover = [max(p - q, 0.0) for p, q in zip(target, draft, strict=True)]
    values = [mass / sum(leftover) if sum(leftover) > 0 else 0.0 for mass in leftover]
    residual = torch.tensor(values, dtype=target_probs.dtype, device=target_probs.device)
    return {"accept_prob": accept_prob, "residual": residual}
