"""Computes everything in float64 and rounds once at the end."""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = draft_probs.astype(np.float64), target_probs.astype(np.float64)
    accept_prob = min(1.0, float(target[drafted_token] / draft[drafted_token]))
    leftover = np.clip(target - draft, 0, None)
    total = leftover.sum()
    if total > 0:
        leftover = leftover / total
    return {"accept_prob": accept_prob, "residual": leftover.astype(target_probs.dtype)}
