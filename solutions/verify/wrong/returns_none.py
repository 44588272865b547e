"""Returns None.

hear: your function ends without `return`; return the dict with both entries.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    leftover /= leftover.sum()
