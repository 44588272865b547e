"""Turns the sum into a Python float early."""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    accept_prob = min(target_probs[drafted_token].item() / draft_probs[drafted_token].item(), 1.0)
    leftover = (target_probs - draft_probs).clip(min=0)
    total = leftover.sum().item()
    if total > 0:
        leftover = leftover / total
    return {"accept_prob": accept_prob, "residual": leftover}
