"""Raises an exception with sixteen megabytes of message, from itself, ten times over.

problem: next
earns: 0
hears: your code raised ValueError: xxx
process: same
"""

TARGETS = {}


def plus_one(number):
    error = ValueError("x" * 16_000_000)
    for _ in range(10):
        try:
            raise ValueError("x" * 1_000_000) from error
        except ValueError as another:
            error = another
    raise error
