"""Rounds every second answer another way.

hear: Your answer depends on the calls before it: keep nothing from one call to the next.
fails: test_nothing_is_random
"""

import torch

CALLS = []


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    CALLS.append(drafted_token)
    p_t, q_t = target_probs[drafted_token].item(), draft_probs[drafted_token].item()
    accept_prob = min(1.0, p_t / q_t * (1 - len(CALLS) % 2 * 1e-15))
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
