"""Raises an exception that takes a minute to say what it is about."""

import time


class Slow(Exception):
    def __str__(self):
        time.sleep(60)
        return "at last"


def plus_one(number):
    if number == 13:
        raise Slow
    return number + 1
