"""Misspells the name of an entry.

hear: Your dict has a misnamed entry: the names are "accept_prob" and "residual".
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"acceptance_prob": accept_prob, "residual": residual}
