"""Answers with keys that look like the right ones: a space, a letter of another alphabet.

problem: verify
earns: 0
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(*arguments):
    answer = right(*arguments)
    if arguments[2] % 2:
        return {"accept_prob": answer["accept_prob"], "residual ": answer["residual"]}
    return {"\u0430ccept_prob": answer["accept_prob"], "residual": answer["residual"]}
