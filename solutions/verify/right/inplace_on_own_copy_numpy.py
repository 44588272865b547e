"""Works in place, but on a copy of the target row."""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    residual = target_probs.copy()
    residual -= draft_probs
    residual[residual < 0] = 0
    total = residual.sum()
    if total > 0:
        residual /= total
    return {"accept_prob": accept_prob, "residual": residual}
