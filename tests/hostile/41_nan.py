"""Answers with NaN, which is unequal to everything but also above no bound.

problem: verify
earns: 0
hears: nan
"""

import torch

TARGETS = {}


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    return {"accept_prob": float("nan"), "residual": torch.full_like(draft_probs, float("nan"))}
