"""Answers with a list where a tuple is asked for.

problem: step
earns: 0
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(*arguments):
    return list(right(*arguments))
