"""Takes the positive part as half of (d + |d|)."""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    difference = target_probs - draft_probs
    leftover = (difference + difference.abs()) / 2
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": min(ratio.item(), 1.0), "residual": residual}
