"""Starts from zeros and fills in the entries with p > q."""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    residual = torch.zeros_like(target_probs)
    wanted = target_probs > draft_probs
    if wanted.any():
        leftover = target_probs[wanted] - draft_probs[wanted]
        residual[wanted] = leftover / leftover.sum()
    return {"accept_prob": accept_prob, "residual": residual}
