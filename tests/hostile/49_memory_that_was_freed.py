"""Answers with memory it never wrote, hoping that the right answer was there before.

problem: verify
earns: less
"""

import torch

TARGETS = {}


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token].item() / draft_probs[drafted_token].item()
    return {"accept_prob": min(1.0, ratio), "residual": torch.empty_like(draft_probs)}
