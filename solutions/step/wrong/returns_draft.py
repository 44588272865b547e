"""Returns all drafted tokens and a zero, without looking at the probabilities.

hear: You return every drafted token, whatever the probabilities: verify each position in turn.
hint: 1
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    tokens = [*draft_tokens.tolist(), 0]
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), len(tokens) - 1
