"""Guards against zeros by writing into the draft row.

hear: Your function changes draft_probs: leave both inputs as they came, and work on an array of
    your own.
hint: 7
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_rows_are_left_alone, test_fresh_rows_of_simple_fractions,
    test_fresh_rows_with_many_zeros, test_fresh_tiny_leftovers, test_inputs_are_left_alone,
    test_read_only_inputs, test_residual_ignores_the_drafted_token, test_rows_of_simple_fractions,
    test_tiny_leftovers_are_normalised, test_tokens_the_draft_never_proposes
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs[draft_probs == 0] = 1e-12
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
