"""Answers with lists of thousands of numbers, one of them nan, which are slow to recognise.

problem: verify
earns: 0
"""

TARGETS = {}
SLOW = [[1] * 1000] * 11 + [[1] * 999 + [float("nan")]]


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    return SLOW
