"""Answers with an integer of a million digits, and with its own kind of nonsense.

problem: next
earns: 0
hears: expected int 2, got int
process: same
"""

TARGETS = {}


def plus_one(number):
    return 10**1_000_000 if number == 1 else -(10**100_000)
