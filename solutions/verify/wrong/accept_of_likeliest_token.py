"""Judges the draft's likeliest token, not the drafted one.

hear: your accept_prob is that of the draft's likeliest token; use drafted_token.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    token = draft_probs.argmax()
    accept_prob = min(1.0, (target_probs[token] / draft_probs[token]).item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
