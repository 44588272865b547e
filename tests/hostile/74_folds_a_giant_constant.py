"""Has a number of three hundred million digits computed while it is loaded.

problem: next
earns: 0
hears: took longer than
"""

TARGETS = {}

NUMBER = 3**10**9


def plus_one(number):
    return number + 1
