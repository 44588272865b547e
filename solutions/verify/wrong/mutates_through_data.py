"""Subtracts in place through .data.

hear: your code changes target_probs through .data, which is the same memory; use a new tensor.
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    target_probs.data.sub_(draft_probs)
    leftover = target_probs.clamp(min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
