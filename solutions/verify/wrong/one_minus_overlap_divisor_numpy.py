"""Divides by 1 - sum of min(p, q).

hear: your divisor is 1 minus the accepted mass and cancels; divide by the leftover's own sum.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = 1 - np.minimum(target_probs, draft_probs).sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
