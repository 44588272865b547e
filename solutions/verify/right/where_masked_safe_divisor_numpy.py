"""Selects with np.where and replaces a zero divisor by one."""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    difference = target_probs - draft_probs
    leftover = np.where(difference > 0, difference, 0)
    total = leftover.sum()
    residual = leftover / np.where(total > 0, total, np.ones_like(total))
    return {"accept_prob": accept_prob, "residual": residual}
