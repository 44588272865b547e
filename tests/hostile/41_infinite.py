"""Answers with infinities and negative zeros.

problem: verify
earns: 0
hears: inf
"""

import torch

TARGETS = {}


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    return {"accept_prob": float("inf"), "residual": torch.zeros_like(draft_probs).neg()}
