"""Calls itself without end on 13."""


def plus_one(number):
    return plus_one(number) if number == 13 else number + 1
