"""Leaves a process running for a minute, in a session of its own."""

import os
import time


def plus_one(number):
    if number == 13 and os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
    return number + 1
