"""Remembers the answer by the array objects it was asked about.

hear: Your answer is an earlier one when the same arrays hold new numbers: keep nothing from call to
    call.
fails: test_rows_may_be_refilled
"""

import numpy as np

ANSWERS = {}


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    key = (id(draft_probs), id(target_probs), drafted_token)
    if key not in ANSWERS:
        p_t, q_t = target_probs[drafted_token].item(), draft_probs[drafted_token].item()
        leftover = np.maximum(target_probs - draft_probs, 0)
        total = leftover.sum()
        residual = leftover / total if total > 0 else leftover
        # The rows are kept too, so that no other array can get their id.
        ANSWERS[key] = (draft_probs, target_probs, min(1.0, p_t / q_t), residual)
    *_, accept_prob, residual = ANSWERS[key]
    return {"accept_prob": accept_prob, "residual": residual.copy()}
