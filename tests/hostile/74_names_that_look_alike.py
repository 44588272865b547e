"""Defines a function whose name looks like the one that is asked for.

problem: next
earns: 0
hears: the file does not define plus_one
process: same
"""

TARGETS = {}


def plus_οne(number):
    return number + 1
