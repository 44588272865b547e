"""Multiplies p[t] by 1 / q[t], which overflows in half precision.

hear: Your accept_prob is wrong where 1 / q[t] overflows its dtype: divide p[t] by q[t] directly.
hint: 2
fails: test_fresh_rare_tokens, test_rare_tokens_are_judged_by_their_ratio
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = target_probs[drafted_token] * np.reciprocal(draft_probs[drafted_token])
    accept_prob = min(1.0, float(ratio))
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
