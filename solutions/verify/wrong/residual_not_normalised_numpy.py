"""Does not divide the leftover mass.

hear: your residual does not sum to 1; divide the leftover mass by its sum.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    return {"accept_prob": accept_prob, "residual": leftover}
