"""Returns the residual as a matrix of one row.

hear: Your residual is a matrix of one row: return a plain array of shape (V,).
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_row, target_row = np.asmatrix(draft_probs), np.asmatrix(target_probs)
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_row - draft_row, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
