"""Leaves a thread running for a minute."""

import threading
import time


def count():
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass


def plus_one(number):
    if number == 13:
        threading.Thread(target=count).start()
    return number + 1
