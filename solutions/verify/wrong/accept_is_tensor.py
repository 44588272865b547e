"""Returns the accept probability as a 0-d tensor.

hear: Your accept_prob is a tensor: make it a Python float with .item().
hint: 3
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = torch.clamp(ratio, max=1.0)
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
