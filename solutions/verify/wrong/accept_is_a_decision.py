"""Tosses a coin and returns the decision.

hear: your accept_prob is a decision taken with a coin; return the probability itself.
"""

import random

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = (target_probs[drafted_token] / draft_probs[drafted_token]).item()
    accept_prob = float(random.Random(drafted_token).random() < ratio)
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
