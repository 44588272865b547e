"""Whether the last submission of a batch of 5,000 costs what the hundredth did, and what grows.

    python tests/bench/batch_scale.py [--large 5000] [--small 100] [--hanging 250] [--real]

A class of right and wrong files, no two the same, among which one of every --hanging waits until
it is stopped, is graded by one `grade batch` command, for the tiny kit of tests/kits.py or (--real)
for the problems here. While it runs, its processes are looked at. A line is a tenth of the class:
what a submission of it took, and the memory that is resident in the command, in a lane, in its desk
and in what forks its workers, of the largest of each kind.

The first ratio is that of a submission of the last tenth ÷ one of as many after the first --small.
Nothing that a batch does once is in it. The second is that of whole commands: a class of --large,
by the file, ÷ one of --small, with everything they begin and end with. CPU time is of the whole
tree; one that hangs sleeps, so that it takes time and no CPU.

Then the memory: that of the trusted side (command, lane and desk) and of what forks the workers,
after the first --small and at the end, told for 2,000 submissions of those between.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import classes
from classes import MIB, File, Moment, Watched
from grade import sample
from measuring import Cost, Goal, progress, ratio, run_bench, slugs, surroundings

GOAL = Goal(must=1.1, aim=1.0)
GROWTH = Goal(must=5.0, aim=0.0)  # MiB
OVER = 2000  # submissions that growth is told for
TRUSTED, FORKS = ("command", "lane", "desk"), ("zygote",)
_WRONG = "def plus_one(number):\n    return number + {}\n"


@dataclass(frozen=True)
class Class:
    """Whose files are graded, and how one of them hangs. kit: None for the problems here."""

    kit: Path | None
    files: Sequence[File]
    hanging: Sequence[File]

    def of(self, size: int, every: int) -> list[File]:
        """So many submissions, no two alike, one of `every` hanging."""
        ordinary, stuck = cycle(self.files), cycle(self.hanging)
        # Early among so many, so that it is over when the next begins.
        chosen = [next(stuck if at % every == every // 10 else ordinary) for at in range(size)]
        return [
            File(file.slug, file.kind, file.name, file.data + f"\nmine = {at}\n".encode())
            for at, file in enumerate(chosen)
        ]


def tiny(folder: Path) -> Class:
    """A class for the tiny kit."""
    from tests import kits

    slug = classes.tiny_kit(folder)
    texts = [kits.RIGHT, _WRONG.format(2), kits.RIGHT, _WRONG.format("(number != 13)")]
    stuck = "import time\n\n\ndef plus_one(number):\n    time.sleep(3600)\n"
    return Class(
        folder,
        [File(slug, "mixed", f"{slug}.py", text.encode()) for text in texts],
        [File(slug, "hanging", f"{slug}.py", stuck.encode())],
    )


def real() -> Class:
    """A class for the problems here: the same number of right and of wrong files of each."""
    files, hanging = [], []
    for slug in slugs(None):
        of_slug = [
            File(slug, kind, f"{slug}.py", path.read_bytes())
            for kind in ("right", "wrong")
            for path in sample(slug, kind, 10)
            if "while True" not in path.read_text(encoding="utf-8")
        ]
        stuck = "import time\n\n\ndef speculative_decode_step(*args):\n    time.sleep(3600)\n"
        hanging.append(File(slug, "hanging", f"{slug}.py", stuck.encode()))
        files.append(of_slug)
    longest = max(map(len, files))
    even = [islice(cycle(of_slug), longest) for of_slug in files]
    return Class(None, [file for group in zip(*even, strict=True) for file in group], hanging)


def graded(
    found: Class, size: int, every: int, jobs: Sequence[str], folder: Path,
    environment: dict[str, str],
) -> Watched:  # fmt: skip
    """What the command takes that grades a class of this size."""
    own = Path(tempfile.mkdtemp(dir=folder))
    place, out = own / "class", own / "R"
    classes.hand_in(place, found.of(size, every))
    scores = out / "scores"

    def done() -> int:
        count = sum(1 for _ in os.scandir(scores)) if scores.is_dir() else 0
        progress(f"{count} of {size}")
        return count

    taken = classes.watched(classes.batch(place, out, *jobs, kit=found.kit), environment, done=done)
    progress("")
    classes.all_graded(out, size)
    return taken


def at(moments: Sequence[Moment], done: int, of: Callable[[Moment], float]) -> float:
    """What something was when so many submissions were done, between two looks if need be."""
    before, after = moments[0], moments[-1]
    for moment in moments:
        if moment.done <= done:
            before = moment
        else:
            after = moment
            break
    share = (done - before.done) / max(after.done - before.done, 1)
    return of(before) + min(max(share, 0.0), 1.0) * (of(after) - of(before))


def of_one(moments: Sequence[Moment], first: int, last: int) -> Cost:
    """What one submission took of those between two counts."""
    wall, cpu = (
        (at(moments, last, of) - at(moments, first, of)) / max(last - first, 1)
        for of in (lambda m: m.seconds, lambda m: m.cpu)
    )
    return Cost(wall, cpu)


def resident(moments: Sequence[Moment], first: int, last: int, roles: Sequence[str]) -> float:
    """MiB that processes of these roles had between two counts: of several looks, the median."""
    seen = [moment for moment in moments if first <= moment.done <= last] or [moments[-1]]
    sums = [sum(moment.memory.get(role, 0) for role in roles) for moment in seen]
    return statistics.median(sums) / MIB


def lines(taken: Watched, size: int) -> None:
    """Prints every tenth of a batch."""
    step = max(size // 10, 1)
    roles = (*TRUSTED, *FORKS)
    print(f"{'submissions':>15}  {'wall':>8} {'CPU':>8}  " + " ".join(f"{r:>8}" for r in roles))
    for first in range(0, size, step):
        last = min(first + step, size)
        cost = of_one(taken.moments, first, last)
        memory = [resident(taken.moments, first, last, [role]) for role in roles]
        print(
            f"{first:>7}–{last:<7}  {cost.wall * 1e3:8.1f} {cost.cpu * 1e3:8.1f}  "
            + " ".join(f"{each:8.1f}" for each in memory)
        )
    most = [taken.peaks.get(role, 0) / MIB for role in roles]
    print(f"{'ms; MiB; peak':>15}  {'':>17}  " + " ".join(f"{each:8.1f}" for each in most))


def main() -> None:
    """Grades a small and a large class."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", type=int, default=5000, metavar="N", help="(default: 5000)")
    parser.add_argument("--small", type=int, default=100, metavar="N", help="(default: 100)")
    parser.add_argument("--hanging", type=int, default=250, metavar="N", help="every how many-th")
    parser.add_argument("--jobs", type=int, metavar="N", help="lanes (default: one a core)")
    parser.add_argument("--real", action="store_true", help="the problems here")
    options = parser.parse_args()
    jobs = () if options.jobs is None else ("--jobs", str(options.jobs))
    with surroundings() as environment, tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        found = real() if options.real else tiny(folder / "kit")
        how = options.hanging, jobs, folder, environment
        graded(found, 2, *how)  # which proves the references
        small = graded(found, options.small, *how)
        large = graded(found, options.large, *how)
    moments, window = large.moments, max(options.large // 10, 1)
    print(f"{options.large} submissions, of the {'problems here' if options.real else 'tiny kit'}")
    lines(large, options.large)
    print(f"a class of {options.small} had at most " + ", ".join(
        f"{small.peaks.get(role, 0) / MIB:.1f} MiB in a {role}" for role in (*TRUSTED, *FORKS)
    ))  # fmt: skip
    end = max(moment.done for moment in moments)
    first = min(options.small, options.large - window)
    early = of_one(moments, first, first + window)
    late = of_one(moments, end - window, end)
    print()
    ratio("a late submission ÷ an early one", [late], [early], GOAL, judge="cpu")
    ratio(
        "whole command, a file: large ÷ small",
        [large.cost.per(options.large)],
        [small.cost.per(options.small)],
        GOAL,
        judge="cpu",
    )
    for what, roles in (("trusted side", TRUSTED), ("what forks workers", FORKS)):
        before = resident(moments, first, first + window, roles)
        after = resident(moments, end - window, end, roles)
        between = max(end - window - first, 1)
        over = min(OVER, between)
        grown = (after - before) * over / between
        print(
            f"{what}: {before:.1f} MiB, then {after:.1f}: "
            f"{grown:+.2f} MiB over {over}  {GROWTH.verdict(round(grown, 1))}"
        )


if __name__ == "__main__":
    run_bench(main)
