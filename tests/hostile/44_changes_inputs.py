"""Answers right and leaves its inputs changed, in a different way each time.

problem: verify
earns: less
hears: you changed an argument
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    answer = right(draft_probs, target_probs, drafted_token)
    if not draft_probs.is_inference():
        draft_probs.data = torch.zeros_like(draft_probs)
        target_probs.requires_grad_()
    return answer
