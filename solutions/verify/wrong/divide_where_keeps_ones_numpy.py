"""Divides with where= into an array that holds ones.

hear: your residual keeps what out= held where nothing is divided; start from zeros.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = np.divide(leftover, total, out=np.ones_like(leftover), where=total > 0)
    return {"accept_prob": accept_prob, "residual": residual}
