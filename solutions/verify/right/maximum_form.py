"""Takes the positive part as max(p, q) - q."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.maximum(target_probs, draft_probs) - draft_probs
    total = leftover.sum()
    if total == 0:
        return {"accept_prob": accept_prob, "residual": torch.zeros_like(target_probs)}
    return {"accept_prob": accept_prob, "residual": leftover / total}
