"""Applies softmax to the leftover mass.

hear: Your residual is a softmax of the leftover mass: divide by the sum instead, so that zeros stay
    0.
hint: 5
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    residual = np.exp(leftover) / np.exp(leftover).sum()
    return {"accept_prob": accept_prob, "residual": residual}
