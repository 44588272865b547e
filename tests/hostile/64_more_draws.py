"""Draws once more than asked: the right law, other random numbers.

problem: step
earns: less
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    torch.rand((), generator=generator)
    return right(draft_probs, target_probs, draft_tokens, generator)
