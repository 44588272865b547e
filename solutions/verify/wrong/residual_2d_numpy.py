"""Adds an axis of length one to the residual.

hear: Your residual has an axis too many: its shape is (V,), like that of the inputs.
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    residual = residual.reshape(1, -1)
    return {"accept_prob": accept_prob, "residual": residual}
