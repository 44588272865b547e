"""Raises its own limit on the stack, so that recursion takes memory instead.

problem: next
earns: all
hears: refused
process: loot
"""

import resource

TARGETS = {}

try:
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, hard))
    print("LOOT: the stack may grow")
except (OSError, ValueError) as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
