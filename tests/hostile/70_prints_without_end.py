"""Prints and prints.

problem: next
earns: less
hears: printed more than 8 MiB
process: same
"""

TARGETS = {}


def plus_one(number):
    while number == 13:
        print("x" * (1 << 16))
    return number + 1
