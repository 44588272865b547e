"""Returns the accept probability as np.float64, a subclass of float.

hear: Your accept_prob is an np.float64, a subclass of float: make it a plain float with float().
hint: 3
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = np.float64(target_probs[drafted_token]) / np.float64(draft_probs[drafted_token])
    accept_prob = np.float64(min(1.0, ratio))
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
