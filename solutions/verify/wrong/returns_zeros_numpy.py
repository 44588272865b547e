"""Returns zeros whatever came in.

hear: Your answer is zero for every input: compute both entries from the arguments.
hint: 1
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    return {"accept_prob": 0.0, "residual": np.zeros_like(target_probs)}
