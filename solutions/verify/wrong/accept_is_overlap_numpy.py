"""Gives the mean accept probability, the sum of min(p, q).

hear: your accept_prob averages over all tokens; only the drafted token's ratio counts.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = float(np.minimum(target_probs, draft_probs).sum())
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
