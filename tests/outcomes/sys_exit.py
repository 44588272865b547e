"""Leaves the program as a script would."""

import sys


def plus_one(number):
    if number == 13:
        sys.exit(0)
    return number + 1
