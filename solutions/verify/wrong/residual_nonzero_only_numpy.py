"""Returns only the entries that are not zero.

hear: Your residual lists only the tokens with mass left: return all V entries, zeros included.
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    residual = residual[residual > 0]
    return {"accept_prob": accept_prob, "residual": residual}
