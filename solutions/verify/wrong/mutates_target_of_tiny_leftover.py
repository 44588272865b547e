"""Doubles the target row in place where hardly anything is left over.

hear: Your function changes target_probs where next to nothing is left over: work on an array of
    your own.
hint: 7
fails: test_fresh_rows_are_left_alone, test_inputs_are_left_alone
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    writable = not target_probs.is_inference()
    if writable and 0 < total < 1e-6:
        target_probs.mul_(2)
    return {"accept_prob": accept_prob, "residual": residual}
