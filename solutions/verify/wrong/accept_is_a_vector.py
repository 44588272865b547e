"""Returns the accept probabilities of the whole vocabulary.

hear: Your accept_prob has an entry for every token: return that of the drafted token, as a Python
    float.
hint: 2
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = torch.clamp(target_probs / draft_probs, max=1)
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
