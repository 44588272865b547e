"""Keeps one buffer of half precision for the results computed in single precision.

hear: Your residual in half precision is overwritten by a later call: make a new array in every
    call.
fails: test_fresh_calls_stand_alone, test_residual_has_its_own_memory
"""

import torch

BUFFERS = {}


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    if target_probs.dtype == torch.float16:
        key = (target_probs.dtype, target_probs.shape, str(target_probs.device))
        if key not in BUFFERS:
            BUFFERS[key] = torch.empty_like(target_probs)
        BUFFERS[key][...] = residual
        residual = BUFFERS[key]
    return {"accept_prob": accept_prob, "residual": residual}
