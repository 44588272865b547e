"""Builds a matrix of all pairs of tokens to sum the leftover mass.

hear: Your function runs out of memory for a large vocabulary: work on rows of V numbers, not on
    V by V of them.
fails: test_fresh_large_vocabulary, test_large_vocabulary
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    copies = np.tile(leftover, (len(leftover), 1))
    totals = copies.sum(axis=1)
    residual = np.divide(leftover, totals, out=leftover.copy(), where=totals > 0)
    return {"accept_prob": accept_prob, "residual": residual}
