"""Builds the residual from a list without saying its dtype.

hear: your residual is built from Python floats and becomes float64; pass dtype=.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    pairs = zip(target_probs.tolist(), draft_probs.tolist(), strict=True)
    leftover = [max(p - q, 0.0) for p, q in pairs]
    total = sum(leftover)
    residual = np.array([mass / total for mass in leftover] if total > 0 else leftover)
    return {"accept_prob": accept_prob, "residual": residual}
