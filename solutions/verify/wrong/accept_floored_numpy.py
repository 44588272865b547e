"""Puts a floor of 1e-8 under the accept probability.

hear: Your accept_prob is never 0: a token with p[t] = 0 is never kept, so put no floor under the
    ratio.
hint: 2
fails: test_different_rows_may_leave_nothing, test_fresh_rare_tokens,
    test_fresh_rows_that_leave_nothing, test_inputs_are_left_alone, test_nothing_is_random,
    test_rare_tokens_are_judged_by_their_ratio, test_residual_ignores_the_drafted_token,
    test_residual_is_an_array_like_the_inputs, test_tokens_the_draft_never_proposes
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, max(1e-8, ratio))
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
