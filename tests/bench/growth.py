"""Thousands of gradings on one launcher in one process: what grows.

    python tests/bench/growth.py [--gradings 2000] [--every 200] [--warm-up 50] [--real 20]

Right and wrong answers, one that dies in every call, prints, loops into a short limit, raises,
cannot be read, takes 200 MiB, answers with more than crosses over; most for the tiny kit of
tests/kits.py, every 20th (--real) for a real problem, a file of the right law with other draws
among them. Every grading has to earn what it must.

A line is one moment: the memory that is resident in the process that grades and in the one that
forks the workers, what they hold open, threads, processes, temporary files. The first line is taken
after --warm-up gradings and 120 more of real problems. Leaves with 1 if at the end either memory is
more by over 5 MiB, or any count is more at all.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from measuring import ROOT, CannotRun, progress, run_bench

MOST = 5 << 20
FULL_AFTER = 120  # gradings of real problems, until their cases remember as much as they may


def main() -> None:
    """Grades, counts and compares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gradings", type=int, default=2000, metavar="N")
    parser.add_argument("--every", type=int, default=200, metavar="N", help="a line for so many")
    parser.add_argument("--warm-up", type=int, default=50, metavar="N", help="before all that")
    parser.add_argument("--real", type=int, default=20, metavar="N", help="every how many-th")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise CannotRun("it counts in /proc")
    sys.path.insert(0, str(ROOT))
    from grader.workers import launcher
    from tests.test_faults import Household, Mix, zygote_of

    with tempfile.TemporaryDirectory(prefix="growth-") as name:
        temporary = Path(name) / "tmp"
        temporary.mkdir()
        tempfile.tempdir = str(temporary)
        os.environ["XDG_CACHE_HOME"] = str(Path(name) / "cache")
        started = launcher("fork")
        try:
            started.versions()
            zygote = zygote_of(os.getpid())
            assert zygote is not None
            # What is imported once is no growth, nor what a problem remembers up to a limit.
            mix = Mix(Path(name), started, max(options.warm_up // 10, 1))
            for number in range(options.warm_up):
                progress(f"warming up: {number} of {options.warm_up}")
                mix.grade(number)
            for number in range(FULL_AFTER):
                progress(f"warming up: {number} of {FULL_AFTER} of real problems")
                mix.grade_a_real_one(8000 + number)  # other inputs than those to come
            mix.real = options.real
            first = last = Household(zygote)
            began = time.monotonic()
            progress("")
            print(f"{'gradings':>8} {'s':>6} {'grader KiB':>11} {'zygote KiB':>11}  "
                  + "  ".join(first.counts), flush=True)  # fmt: skip
            _line(0, 0.0, first)
            for number in range(1, options.gradings + 1):
                progress(f"{number} of {options.gradings}")
                mix.grade(number + options.warm_up)
                if number % options.every == 0 or number == options.gradings:
                    progress("")
                    last = Household(zygote)
                    _line(number, time.monotonic() - began, last)
        finally:
            started.close()
            tempfile.tempdir = None
        left = sorted(path.name for path in temporary.iterdir())
    print(f"\nwhat was graded: {', '.join(f'{n} {kind}' for kind, n in mix.kinds.items())}")
    grown = last.grown(first, MOST) + [f"temporary file {name}" for name in left]
    print("\n".join(["grown:", *grown]) if grown else "nothing has grown")
    if grown:
        sys.exit(1)


def _line(number: int, seconds: float, found: object) -> None:
    from tests.test_faults import Household

    assert isinstance(found, Household)
    counts = "  ".join(f"{count:>{len(name)}}" for name, count in found.counts.items())
    memory = f"{found.trusted_rss >> 10:>11,} {found.zygote_rss >> 10:>11,}"
    print(f"{number:>8} {seconds:>6.0f} {memory}  {counts}", flush=True)


if __name__ == "__main__":
    run_bench(main)
