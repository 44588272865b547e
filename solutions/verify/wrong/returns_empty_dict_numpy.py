"""Returns an empty dict.

hear: Your dict is empty: give it the entries "accept_prob" and "residual".
fails: all
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    return {}
