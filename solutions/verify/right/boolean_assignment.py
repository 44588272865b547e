"""Copies the difference and sets its negative entries to zero."""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    p, q = target_probs.detach(), draft_probs.detach()
    accept_prob = min(1.0, (p[drafted_token] / q[drafted_token]).item())
    residual = p - q
    residual[residual < 0] = 0
    if residual.count_nonzero() > 0:
        residual = residual / residual.sum()
    return {"accept_prob": accept_prob, "residual": residual}
