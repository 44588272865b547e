"""Computes in float32 and converts back.

hear: your arithmetic goes through float32 and loses digits of float64 inputs.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = draft_probs.astype(np.float32), target_probs.astype(np.float32)
    accept_prob = min(1.0, float(target[drafted_token]) / float(draft[drafted_token]))
    leftover = np.maximum(target - draft, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual.astype(target_probs.dtype)}
