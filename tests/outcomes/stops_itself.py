"""Stops its own process, which then uses no time of the processor."""

import os
import signal


def plus_one(number):
    if number == 13:
        os.kill(os.getpid(), signal.SIGSTOP)
    return number + 1
