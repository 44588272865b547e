"""Raises the recursion limit and recurses until the C stack is used up.

problem: next
earns: less
hears: crashed (signal 11, SIGSEGV) during a call
process: same
"""

import sys

TARGETS = {}


class Deep:
    def __repr__(self):
        return repr(self)


def plus_one(number):
    if number == 13:
        sys.setrecursionlimit(10**9)
        repr(Deep())
    return number + 1
