"""Computes in Python floats and builds one array at the end."""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = draft_probs.tolist(), target_probs.tolist()
    accept_prob = min(1.0, target[drafted_token] / draft[drafted_token])
    leftover = [max(p - q, 0.0) for p, q in zip(target, draft, strict=True)]
    total = sum(leftover)
    if total > 0:
        leftover = [mass / total for mass in leftover]
    residual = np.array(leftover, dtype=target_probs.dtype)
    return {"accept_prob": accept_prob, "residual": residual}
