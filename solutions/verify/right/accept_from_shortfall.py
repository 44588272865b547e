"""Gets the accept probability as 1 - max(q - p, 0) / q."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    excess = torch.relu(draft_probs - target_probs)
    accept_prob = 1.0 - excess[drafted_token].item() / draft_probs[drafted_token].item()
    leftover = torch.relu(target_probs - draft_probs)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
