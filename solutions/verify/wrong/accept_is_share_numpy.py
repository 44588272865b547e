"""Uses the share of the target in the sum of both.

hear: Your accept_prob is p[t] / (p[t] + q[t]): divide by q[t] alone, and cap the ratio at 1.
hint: 2
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    p, q = float(target_probs[drafted_token]), float(draft_probs[drafted_token])
    accept_prob = p / (p + q)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
