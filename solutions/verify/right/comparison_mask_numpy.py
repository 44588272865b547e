"""Multiplies the difference by the comparison p > q (zeros may be -0.0)."""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = (target_probs - draft_probs) * (target_probs > draft_probs)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
