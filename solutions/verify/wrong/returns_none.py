"""Returns None.

hear: Your function returns None: return the dict with both entries at its end.
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    leftover /= leftover.sum()
