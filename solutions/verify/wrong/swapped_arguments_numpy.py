"""Takes the first argument for the target.

hear: Your answer is the one with draft and target exchanged: draft_probs comes first, then
    target_probs.
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    target_probs, draft_probs = draft_probs, target_probs
    p, q = float(target_probs[drafted_token]), float(draft_probs[drafted_token])
    accept_prob = 1.0 if p >= q else p / q
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
