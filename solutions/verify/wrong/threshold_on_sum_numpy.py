"""Takes a sum below 1e-8 for nothing left.

hear: your code calls a small sum zero; only a sum of exactly 0 gives the zero vector.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 1e-8 else np.zeros_like(leftover)
    return {"accept_prob": accept_prob, "residual": residual}
