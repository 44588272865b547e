"""Returns a generator that never ends."""

import itertools


def plus_one(number):
    return (n for n in itertools.count()) if number == 13 else number + 1
