"""Returns p itself as the residual.

hear: Your residual is the whole target row: subtract the draft row and keep what is positive.
hint: 4
fails: all
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    residual = target_probs.clone()
    return {"accept_prob": accept_prob, "residual": residual}
