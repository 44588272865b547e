"""Returns a list of ten million numbers."""


def plus_one(number):
    return [0] * 10_000_000 if number == 13 else number + 1
