"""Answers with True and 0 where a Python float is asked for.

problem: verify
earns: less
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(*arguments):
    answer = right(*arguments)
    accept_prob = answer["accept_prob"]
    return answer | {"accept_prob": {1.0: True, 0.0: 0}.get(accept_prob, accept_prob)}
