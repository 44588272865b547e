"""Divides 0 by 0 when nothing is left.

hear: your residual is NaN when nothing is left; return zeros where the sum is 0.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    residual = leftover / leftover.sum()
    return {"accept_prob": accept_prob, "residual": residual}
