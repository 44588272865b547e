"""Divides by 1 - accept_prob of the drafted token.

hear: your divisor is 1 - accept_prob, which is about one token; divide by the leftover's own sum.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    residual = leftover / (1 - accept_prob) if accept_prob < 1 else np.zeros_like(leftover)
    return {"accept_prob": accept_prob, "residual": residual}
