"""Ends its process by a signal that it chooses by its input.

problem: next
earns: 0
hears: crashed (signal
process: same
"""

import os

TARGETS = {}


def plus_one(number):
    os.kill(os.getpid(), 34 + number % 30)
