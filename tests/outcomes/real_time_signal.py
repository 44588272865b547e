"""Ends by a signal that has no name."""

import os


def plus_one(number):
    if number == 13:
        os.kill(os.getpid(), 40)
    return number + 1
