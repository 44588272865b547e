"""Replaces what the process writes its replies with."""

import sys


def plus_one(number):
    if number == 13:
        header = b'{"i": 0, "value": ["int", 14]}'
        sys._getframe(1).f_globals["_header"] = lambda parts: header
    return number + 1
