"""Hands out the same zeros again and again, but for single precision.

hear: Your zeros are one array that every answer shares: make new ones in every call.
fails: test_fresh_calls_stand_alone, test_residual_has_its_own_memory
"""

import numpy as np

ZEROS = {}


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    if total == 0 and target_probs.dtype != np.float32:
        key = (target_probs.dtype, target_probs.shape, str(target_probs.device))
        residual = ZEROS.setdefault(key, leftover)
    else:
        residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
