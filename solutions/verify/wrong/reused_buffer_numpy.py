"""Writes every answer into the same buffer.

hear: Your residual is overwritten by the next call: make a new array in every call.
fails: test_fresh_calls_stand_alone, test_residual_has_its_own_memory
"""

import numpy as np

BUFFERS = {}


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    key = (target_probs.shape, target_probs.dtype)
    if key not in BUFFERS:
        BUFFERS[key] = np.empty(target_probs.shape, dtype=target_probs.dtype)
    residual = BUFFERS[key]
    np.maximum(np.subtract(target_probs, draft_probs, out=residual), 0, out=residual)
    total = residual.sum()
    if total > 0:
        residual /= total
    return {"accept_prob": accept_prob, "residual": residual}
