"""Returns a list that holds itself, a thousand times over."""


def plus_one(number):
    if number == 13:
        own = []
        own += [own] * 1000
        return own
    return number + 1
