"""Raises an exception that breaks whoever asks for its class."""


class Odd(Exception):
    __class__ = property(lambda self: 1 / 0)


def plus_one(number):
    if number == 13:
        raise Odd
    return number + 1
