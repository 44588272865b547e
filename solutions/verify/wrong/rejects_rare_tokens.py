"""Takes a token with next to no probability in the draft for one that is never kept.

hear: Your accept_prob is 0 where q[t] is tiny and p[t] is not: their ratio decides at every scale.
fails: test_fresh_rare_tokens, test_rare_tokens_are_judged_by_their_ratio
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    p_t, q_t = target_probs[drafted_token].item(), draft_probs[drafted_token].item()
    accept_prob = min(1.0, p_t / q_t) if q_t > 1e-5 or p_t < 1e-3 else 0.0
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
