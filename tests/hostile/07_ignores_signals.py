"""Ignores every signal it can, then loops.

problem: next
earns: less
hears: took longer than
"""

import signal

TARGETS = {}

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def plus_one(number):
    while number == 13:
        pass
    return number + 1
