"""Aborts the process."""

import os


def plus_one(number):
    if number == 13:
        os.abort()
    return number + 1
