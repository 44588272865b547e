"""Falls back to the uniform distribution when nothing is left.

hear: your residual is uniform when nothing is left; return zeros there.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else np.full_like(leftover, 1 / len(leftover))
    return {"accept_prob": accept_prob, "residual": residual}
