"""Sets a timer while it is loaded, to strike during a later call.

problem: next
earns: all
hears: refused
process: loot
"""

import signal

TARGETS = {}

try:
    signal.setitimer(signal.ITIMER_REAL, 30)
    print("LOOT: a timer runs")
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
