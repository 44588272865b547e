"""Returns more text than a reply can carry."""


def plus_one(number):
    return ["x" * 4000] * 1000 if number == 13 else number + 1
