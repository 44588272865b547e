"""Multiplies p[t] by 1 / q[t], which overflows in half precision.

hear: Your accept_prob is wrong where 1 / q[t] overflows its dtype: divide p[t] by q[t] directly.
hint: 2
fails: test_fresh_rare_tokens, test_rare_tokens_are_judged_by_their_ratio
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] * draft_probs[drafted_token].reciprocal()
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
