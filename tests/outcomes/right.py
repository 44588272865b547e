"""Adds one to any number."""


def plus_one(number):
    return number + 1
