"""Takes the first argument for the target.

hear: Your answer is the one with draft and target exchanged: draft_probs comes first, then
    target_probs.
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    target_probs, draft_probs = draft_probs, target_probs
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
