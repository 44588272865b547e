"""Waits for nothing at all without using the processor.

problem: next
earns: less
hears: took longer than
"""

import select

TARGETS = {}


def plus_one(number):
    if number == 13:
        select.select([], [], [])
    return number + 1
