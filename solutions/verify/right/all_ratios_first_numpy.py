"""Computes the accept probability of every token and picks one."""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        accept_probs = np.minimum(target_probs / draft_probs, 1)
    leftover = np.clip(target_probs - draft_probs, 0, 1)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_probs[drafted_token].item(), "residual": residual}
