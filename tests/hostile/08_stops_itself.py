"""Stops its own process, so that it burns no processor time at all.

problem: next
earns: less
hears: took longer than
"""

import os
import signal

TARGETS = {}


def plus_one(number):
    if number == 13:
        os.kill(os.getpid(), signal.SIGSTOP)
    return number + 1
