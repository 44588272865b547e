"""Reads where no memory is."""

import ctypes


def plus_one(number):
    if number == 13:
        ctypes.string_at(0)
    return number + 1
