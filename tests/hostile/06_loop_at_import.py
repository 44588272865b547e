"""Never finishes loading.

problem: next
earns: 0
hears: took longer than
"""

TARGETS = {}

while True:
    pass
