"""Subtracts in place through .numpy().

hear: your code changes target_probs through .numpy(), which is the same memory; use a new tensor.
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    difference = target_probs.numpy()
    difference -= draft_probs.numpy()
    leftover = target_probs.clamp(min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
