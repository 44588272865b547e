"""Doubles a target row of more than a thousand tokens in place.

hear: Your function changes target_probs where it is long: work on an array of your own.
hint: 7
fails: test_fresh_rows_are_left_alone, test_inputs_are_left_alone
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    writable = target_probs.flags.writeable
    if writable and len(target_probs) > 1000:
        target_probs *= 2
    return {"accept_prob": accept_prob, "residual": residual}
