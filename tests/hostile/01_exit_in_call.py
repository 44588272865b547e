"""Ends the process with the exit code of success instead of answering.

problem: next
earns: 0
hears: ended the process during a call (exit code 0)
process: same
"""

import os

TARGETS = {}


def plus_one(number):
    os._exit(0)
