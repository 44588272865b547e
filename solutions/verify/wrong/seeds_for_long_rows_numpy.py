"""Seeds the library for rows of nine tokens and more.

hear: Your function moves a global random generator for longer rows: draw and seed nothing here.
fails: test_fresh_calls_stand_alone, test_nothing_is_random
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    if len(target_probs) > 8:
        np.random.seed(0)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
