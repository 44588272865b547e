"""Answers with a dict whose methods say what is asked for and whose entries are wrong.

problem: verify
earns: 0
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


class Lying(dict):
    def __init__(self, truth):
        super().__init__(accept_prob=9.0, residual=None)
        self.truth = truth

    def __getitem__(self, key):
        return self.truth[key]

    def items(self):
        return self.truth.items()

    def __eq__(self, other):
        return True

    __hash__ = None


def speculative_decode_step(*arguments):
    return Lying(right(*arguments))
