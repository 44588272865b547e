"""Returns an empty tuple.

hear: Your tuple is empty: return (tokens, n).
hint: 7
fails: all
"""


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    return ()
