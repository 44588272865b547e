"""Rounds the residual to six digits.

hear: Your residual is rounded to a few digits: return it as it was computed.
fails: test_fresh_large_vocabulary, test_fresh_nearly_equal_rows, test_fresh_rare_tokens,
    test_fresh_rows_are_left_alone, test_fresh_rows_of_simple_fractions,
    test_fresh_rows_with_every_token, test_fresh_rows_with_many_zeros, test_fresh_softmax_rows,
    test_fresh_tiny_leftovers, test_inputs_are_left_alone, test_large_vocabulary,
    test_nearly_equal_rows, test_rows_of_simple_fractions, test_softmax_rows
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    residual = np.array([round(x, 6) for x in residual.tolist()], dtype=residual.dtype)
    return {"accept_prob": accept_prob, "residual": residual}
