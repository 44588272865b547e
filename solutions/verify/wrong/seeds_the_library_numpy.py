"""Seeds the library's global generator.

hear: Your function moves a global random generator: nothing here is random, so draw and seed
    nothing.
fails: test_equal_rows_leave_nothing, test_fresh_calls_stand_alone, test_nothing_is_random
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    np.random.seed(0)
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
