"""Splits the work into two helper functions."""

import numpy as np


def accept_probability(p, q):
    return 1.0 if p >= q else p / q


def residual_distribution(target_probs, draft_probs):
    leftover = np.fmax(target_probs - draft_probs, 0)
    total = leftover.sum()
    return leftover / total if total > 0 else leftover


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    p, q = float(target_probs[drafted_token]), float(draft_probs[drafted_token])
    return {
        "accept_prob": accept_probability(p, q),
        "residual": residual_distribution(target_probs, draft_probs),
    }
