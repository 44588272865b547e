"""Computes for a minute."""

import time


def plus_one(number):
    end = time.monotonic() + 60
    while number == 13 and time.monotonic() < end:
        pass
    return number + 1
