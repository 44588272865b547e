"""Raises an ordinary exception on 13, two calls deep."""

import math


def half(number):
    return math.sqrt(number - 14)


def plus_one(number):
    return half(number) if number == 13 else number + 1
