"""Leaves a copy of its process running for a minute."""

import os
import time


def plus_one(number):
    if number == 13 and os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    return number + 1
