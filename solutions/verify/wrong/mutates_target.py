"""Subtracts in place from the target row.

hear: your code changes target_probs in place; subtract into a new array.
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    target_probs -= draft_probs
    residual = target_probs.clamp(min=0)
    total = residual.sum()
    if total > 0:
        residual /= total
    return {"accept_prob": accept_prob, "residual": residual}
