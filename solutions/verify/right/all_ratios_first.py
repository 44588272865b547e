"""Computes the accept probability of every token and picks one."""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_probs = (target_probs / draft_probs).clamp(max=1.0)
    accept_prob = accept_probs[drafted_token].item()
    leftover = (target_probs - draft_probs).clamp(min=0.0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
