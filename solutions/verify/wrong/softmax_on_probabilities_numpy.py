"""Applies softmax to the inputs.

hear: Your numbers are those of rows put through a softmax: the inputs are probabilities already.
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs = np.exp(draft_probs) / np.exp(draft_probs).sum()
    target_probs = np.exp(target_probs) / np.exp(target_probs).sum()
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
