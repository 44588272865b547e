"""Stops the clocks of Python and takes its time.

problem: next
earns: less
hears: took longer than
"""

import time

TARGETS = {}

REAL = time.sleep
time.time = time.monotonic = time.perf_counter = lambda: 0.0
time.time_ns = time.monotonic_ns = time.perf_counter_ns = lambda: 0
time.sleep = lambda seconds: None


def plus_one(number):
    if number == 13:
        REAL(15)
    return number + 1
