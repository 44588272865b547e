"""Writes past the end of an array by strides that NumPy does not check.

problem: next
earns: less
hears: crashed (signal 11, SIGSEGV) during a call
process: same
"""

import numpy as np

TARGETS = {}


def plus_one(number):
    if number == 13:
        wild = np.lib.stride_tricks.as_strided(np.zeros(1), (64,), (1 << 40,))
        wild[:] = 1.0
    return number + 1
