"""Raises the exceptions that `except Exception` lets through, each in its own call.

problem: next
earns: 0
hears: KeyboardInterrupt
process: same
"""

TARGETS = {}


def plus_one(number):
    if number == 1:
        raise KeyboardInterrupt
    if number == 13:
        raise GeneratorExit
    raise BaseException("neither error nor exit")
