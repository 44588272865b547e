"""Asks for 8 GiB as an array."""

import numpy as np


def plus_one(number):
    if number == 13:
        np.zeros(8 << 30, dtype=np.uint8)
    return number + 1
