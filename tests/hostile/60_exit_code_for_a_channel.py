"""Ends its process with its input as the exit code.

problem: next
earns: 0
hears: (exit code
process: same
"""

import os

TARGETS = {}


def plus_one(number):
    os._exit(number % 200 + 10)
