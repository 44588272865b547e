"""Answers with, and raises, objects that do harm when they are asked for words.

problem: next
earns: 0
process: same
"""

import os

TARGETS = {}


class Hostile(Exception):
    def __str__(self):
        os._exit(0)

    def __repr__(self):
        while True:
            pass

    def __format__(self, spec):
        raise SystemExit(0)

    def __bool__(self):
        raise SystemExit(0)

    __len__ = __iter__ = __hash__ = __index__ = __bool__


def plus_one(number):
    if number == 1:
        raise Hostile
    return Hostile()
