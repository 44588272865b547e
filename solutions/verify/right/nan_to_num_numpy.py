"""Divides first and turns the NaN of 0 / 0 into 0."""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    with np.errstate(invalid="ignore"):
        residual = np.nan_to_num(leftover / leftover.sum(), nan=0.0)
    return {"accept_prob": accept_prob, "residual": residual}
