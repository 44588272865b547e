"""Computes for a minute before it defines anything."""

import time

END = time.monotonic() + 60
while time.monotonic() < END:
    pass


def plus_one(number):
    return number + 1
