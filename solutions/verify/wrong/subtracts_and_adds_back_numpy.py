"""Subtracts in place and adds back afterwards.

hear: Your function changes target_probs and puts it back, not quite: subtract into a new array.
hint: 4
fails: test_fresh_rows_are_left_alone, test_inputs_are_left_alone, test_read_only_inputs,
    test_rows_that_are_views
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    target_probs -= draft_probs
    leftover = np.maximum(target_probs, 0)
    target_probs += draft_probs
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
