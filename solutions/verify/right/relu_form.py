"""Takes the positive part with torch.relu."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = min(1.0, float(target_probs[drafted_token]) / float(draft_probs[drafted_token]))
    residual = torch.relu(target_probs - draft_probs)
    total = residual.sum()
    if total:
        residual = residual / total
    return {"accept_prob": accept_prob, "residual": residual}
