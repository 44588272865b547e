"""Accepts for sure when p[t] >= q[t] and never otherwise.

hear: your accept_prob is only ever 0 or 1; below q[t] it is the ratio p[t] / q[t].
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = 1.0 if target_probs[drafted_token] >= draft_probs[drafted_token] else 0.0
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
