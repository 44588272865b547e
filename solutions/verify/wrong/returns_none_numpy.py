"""Returns None.

hear: Your function returns None: return the dict with both entries at its end.
fails: all
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    leftover = np.maximum(target_probs - draft_probs, 0)
    leftover /= leftover.sum()
