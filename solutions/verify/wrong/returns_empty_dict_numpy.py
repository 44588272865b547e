"""Returns an empty dict.

hear: your dict is empty; it needs "accept_prob" and "residual".
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    return {}
