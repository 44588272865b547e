"""Raises an exception with 16 MB of text."""


def plus_one(number):
    if number == 13:
        raise ValueError("x" * 16_000_000)
    return number + 1
