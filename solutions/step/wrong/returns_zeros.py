"""Returns one token 0 and no kept token, whatever came in.

hear: Your answer is the same for every input: compute it from the arguments.
hint: 1
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    return torch.zeros(1, dtype=torch.int64, device=draft_tokens.device), 0
