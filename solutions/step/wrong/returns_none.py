"""Returns nothing.

hear: Your function returns None: return the tuple (tokens, n).
hint: 7
fails: all
"""


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    return None
