"""Rebuilds the rows in the default dtype and converts back.

hear: your rows pass through the default dtype and lose digits; compute in the inputs' dtype.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = torch.tensor(draft_probs.tolist()), torch.tensor(target_probs.tolist())
    accept_prob = min(1.0, (target[drafted_token] / draft[drafted_token]).item())
    leftover = torch.clamp(target - draft, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual.to(target_probs)}
