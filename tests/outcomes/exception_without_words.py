"""Raises an exception that cannot say what it is about."""


class Silent(Exception):
    def __str__(self):
        raise SystemExit(0)


def plus_one(number):
    if number == 13:
        raise Silent
    return number + 1
