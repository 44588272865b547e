"""Returns the accept probability as the NumPy scalar it is computed in.

hear: Your accept_prob is a NumPy scalar: make it a Python float with float().
hint: 3
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = np.minimum(ratio, 1)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
