"""Returns the accept probabilities of the whole vocabulary.

hear: Your accept_prob has an entry for every token: return that of the drafted token, as a Python
    float.
hint: 2
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    with np.errstate(all="ignore"):
        accept_prob = np.minimum(target_probs / draft_probs, 1)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
