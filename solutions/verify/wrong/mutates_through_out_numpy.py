"""Writes the difference into the target row with out=.

hear: your out= points at target_probs; give it an array of your own, or none.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.subtract(target_probs, draft_probs, out=target_probs)
    residual = np.maximum(leftover, 0)
    total = residual.sum()
    if total > 0:
        residual /= total
    return {"accept_prob": accept_prob, "residual": residual}
