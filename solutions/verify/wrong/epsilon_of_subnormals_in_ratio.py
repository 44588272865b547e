"""Adds an epsilon to q[t] that only subnormal numbers feel.

hear: Your accept_prob is too small where q[t] is tiny: q[t] > 0 is promised, so add nothing to it.
fails: test_fresh_rare_tokens, test_rare_tokens_are_judged_by_their_ratio
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    epsilon = 1e-312 if target_probs.dtype == torch.float64 else 1e-42
    p_t, q_t = target_probs[drafted_token].item(), draft_probs[drafted_token].item()
    accept_prob = min(1.0, p_t / (q_t + epsilon))
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
