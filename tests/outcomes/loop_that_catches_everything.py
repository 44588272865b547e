"""Computes for a minute and catches whatever would end it."""

import time


def plus_one(number):
    end = time.monotonic() + 60
    while number == 13:
        try:
            while time.monotonic() < end:
                pass
            break
        except BaseException:
            pass
    return number + 1
