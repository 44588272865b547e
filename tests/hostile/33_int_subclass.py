"""Answers with integers that are not of type int: a subclass, NumPy's, a tensor, a bool.

problem: next
earns: 0
process: same
"""

import enum

import numpy as np
import torch

TARGETS = {}


class Number(enum.IntEnum):
    TWO = 2


def plus_one(number):
    return {1: Number.TWO, 13: np.int64(14), 2: torch.tensor(3)}[number]
