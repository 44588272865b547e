"""Normalises the accepted mass min(p, q).

hear: Your residual is the mass that is accepted, min(p, q): take what is left over, max(p - q, 0).
hint: 4
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    overlap = torch.minimum(target_probs, draft_probs)
    total = overlap.sum()
    residual = overlap / total if total > 0 else overlap
    return {"accept_prob": accept_prob, "residual": residual}
