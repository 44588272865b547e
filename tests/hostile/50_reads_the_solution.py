"""Opens the hidden solution and prints it.

problem: next
earns: all
hears: refused: PermissionError
process: loot
"""

TARGETS = {}

try:
    with open(TARGETS["reference"]) as file:
        print("LOOT:", file.read(200))
except OSError as error:
    print("refused:", type(error).__name__, error)


def plus_one(number):
    return number + 1
