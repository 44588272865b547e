"""Reads the raw buffer of each row.

hear: Your answer is wrong for rows that are not contiguous: use the array itself, not its buffer.
fails: test_fresh_rows_are_left_alone, test_inputs_are_left_alone, test_rows_that_are_views
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    p = np.frombuffer(target_probs.data, dtype=target_probs.dtype)
    q = np.frombuffer(draft_probs.data, dtype=draft_probs.dtype)
    leftover = np.maximum(p - q, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {
        "accept_prob": min(1.0, float(p[drafted_token]) / float(q[drafted_token])),
        "residual": residual,
    }
