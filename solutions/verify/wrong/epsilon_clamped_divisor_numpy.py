"""Floors the divisor at 1e-6.

hear: Your residual does not sum to 1 where little is left over: put no floor under the sum.
hint: 5
fails: test_fresh_nearly_equal_rows, test_fresh_tiny_leftovers, test_nearly_equal_rows,
    test_slight_differences_count, test_tiny_leftovers_are_normalised
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    residual = leftover / np.maximum(leftover.sum(), 1e-6)
    return {"accept_prob": accept_prob, "residual": residual}
