"""Waits for a minute without computing."""

import time


def plus_one(number):
    if number == 13:
        time.sleep(60)
    return number + 1
