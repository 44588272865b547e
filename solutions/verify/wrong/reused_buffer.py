"""Writes every answer into the same buffer.

hear: Your residual is overwritten by the next call: make a new array in every call.
fails: test_fresh_calls_stand_alone, test_residual_has_its_own_memory
"""

import torch

BUFFERS = {}


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    key = (target_probs.shape, target_probs.dtype, target_probs.device)
    if key not in BUFFERS:
        BUFFERS[key] = torch.empty(target_probs.shape, dtype=key[1], device=key[2])
    residual = BUFFERS[key]
    torch.sub(target_probs, draft_probs, out=residual).clamp_(min=0)
    total = residual.sum()
    if total > 0:
        residual /= total
    return {"accept_prob": accept_prob, "residual": residual}
