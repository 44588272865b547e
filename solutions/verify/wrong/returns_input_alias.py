"""Returns the target itself when the supports are disjoint.

hear: Your residual shares the memory of target_probs where no token is in both rows: return an
    array of its own.
fails: test_fresh_calls_stand_alone, test_residual_has_its_own_memory
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    if torch.equal(leftover, target_probs):
        residual = target_probs
    else:
        total = leftover.sum()
        residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
