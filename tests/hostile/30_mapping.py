"""Answers with a mapping that is no dict.

problem: verify
earns: 0
"""

import types

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(*arguments):
    return types.MappingProxyType(right(*arguments))
