# coding: rot13
"""Claims to be written in another coding, which text that is read as UTF-8 does not heed.

problem: next
earns: all
process: same
"""

TARGETS = {}


def plus_one(number):
    return number + 1
