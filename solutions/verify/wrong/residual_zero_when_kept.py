"""Returns a zero residual when the token is kept for sure.

hear: your residual is zero when accept_prob is 1; compute it every time.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if accept_prob < 1 and total > 0 else torch.zeros_like(leftover)
    return {"accept_prob": accept_prob, "residual": residual}
