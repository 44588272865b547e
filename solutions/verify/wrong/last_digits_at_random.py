"""Multiplies the answer with noise of a few units in the last place.

hear: Your answer differs from call to call in its last digits: use no random numbers here.
fails: test_nothing_is_random
"""

import random

import torch

NOISE = random.Random()


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    eps = torch.finfo(target_probs.dtype).eps
    residual = residual * (1 + 4 * float(eps) * NOISE.random())
    return {"accept_prob": accept_prob, "residual": residual}
