"""Gives out warnings and writes to the error output, each with a text of its own.

problem: next
earns: all
hears: warned
process: same
"""

import sys
import warnings

TARGETS = {}

warnings.simplefilter("always")
for number in range(3000):
    warnings.warn(f"warned {number}", stacklevel=1)
    sys.stderr.write("and again\n")


def plus_one(number):
    return number + 1
