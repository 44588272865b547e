"""Ends the process from the callback of a weak reference, in the middle of a later call.

problem: next
earns: less
hears: ended the process during a call (exit code 7)
process: same
"""

import os
import weakref

TARGETS = {}


class Kept:
    pass


KEPT = [Kept()]
WATCH = weakref.ref(KEPT[0], lambda _: os._exit(7))


def plus_one(number):
    if number == 13:
        KEPT.clear()
    return number + 1
