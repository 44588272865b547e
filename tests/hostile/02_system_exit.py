"""Raises SystemExit with the code of success.

problem: next
earns: 0
hears: ended the program itself (SystemExit: 0)
process: same
"""

import sys

TARGETS = {}


def plus_one(number):
    sys.exit(0)
