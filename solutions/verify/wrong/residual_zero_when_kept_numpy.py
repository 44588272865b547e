"""Returns a zero residual when the token is kept for sure.

hear: your residual is zero when accept_prob is 1; compute it every time.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if accept_prob < 1 and total > 0 else np.zeros_like(leftover)
    return {"accept_prob": accept_prob, "residual": residual}
