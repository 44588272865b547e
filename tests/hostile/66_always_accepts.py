"""Keeps every drafted token, which is right under lucky seeds.

problem: step
earns: less
"""

import torch

TARGETS = {}


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    bonus = torch.multinomial(target_probs[-1], 1, generator=generator)
    return torch.cat([draft_tokens.to(torch.int64), bonus]), len(draft_tokens)
