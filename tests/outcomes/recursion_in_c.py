"""Lifts the limit on recursion and exhausts the stack of C."""

import sys


class Deep:
    def __repr__(self):
        return repr([self])


def plus_one(number):
    if number == 13:
        sys.setrecursionlimit(10**9)
        repr(Deep())
    return number + 1
