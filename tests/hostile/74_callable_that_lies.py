"""Is called through an object that lies about what it takes, and changes its mind.

problem: next
earns: 0
hears: expected int 2, got
process: same
"""

TARGETS = {}


class Callable:
    @property
    def __signature__(self):
        raise SystemExit(0)

    def __call__(self, *arguments, **named):
        return self


plus_one = Callable()
