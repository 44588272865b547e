"""How many gradings a second one lane does, once it is warm, and how that compares.

    python tests/bench/grade.py [--slug verify] [--kind wrong] [--gradings 40] [--runs 5]

One lane grades right and wrong files one after another with one seed, as a batch does: hidden
checks and all locks included, a fresh worker for every file. Compared with it is the ordinary way,
a pytest process for every file (see ordinary.py), over the same files. CPU time counts the whole
tree of processes: that is what a machine full of gradings has to pay, and what the goal is about.
The ratio is ordinary ÷ warm, so more is better. Trusted is the CPU time of the lane and its desk,
where the checks run; the rest is that of the worker processes and of this one.

Submissions that wait for a time limit are left out: they measure the limit. CPU time of a process
that lives is known to a hundredth of a second only, so that a round has to be many gradings.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from classes import cpu_of, role_of
from measuring import (
    PYTHON,
    ROOT,
    CannotRun,
    Cost,
    Goal,
    descendants,
    in_turn,
    measured,
    ordinary,
    process,
    ratio,
    run_bench,
    slugs,
    solution,
    surroundings,
    table,
)

GOAL = Goal(must=30.0, aim=50.0, least=True)
TOO_LONG = 3.0  # seconds of a first grading that must have met a limit
SEED = 1
KINDS = ("right", "wrong")


class Warm:
    """One lane and one problem: what grades file after file."""

    def __init__(self, lanes: Any, slug: str, gradings: int) -> None:
        self.lanes = lanes
        self.slug = slug
        self.gradings = gradings
        self.trusted: list[float] = []

    def grade(self, files: list[Path]) -> list[Any]:
        """The reports on the files, each graded once."""
        from grader import submission_file
        from grader.lanes import Job
        from grader.report import Report

        jobs = [Job(self.slug, submission_file.read(file), "torch", SEED) for file in files]
        reports = [future.result() for future in map(self.lanes.submit, jobs)]
        if not all(isinstance(report, Report) for report in reports):
            raise CannotRun(f"{self.slug}: the kit is at fault; see grade run")
        return reports

    def all(self, files: list[Path]) -> Cost:
        """The cost of one of these gradings, on average."""
        before = _trusted()
        with measured() as found:
            self.grade([*islice(cycle(files), self.gradings)])
        self.trusted.append((_trusted() - before) / self.gradings)
        return found[0].per(self.gradings)

    def quick(self, files: list[Path]) -> list[Path]:
        """Those of the files that are graded without waiting for a limit."""
        found = []
        for file, report in zip(files, self.grade(files), strict=True):
            if report.seconds < TOO_LONG:
                found.append(file)
            else:
                print(f"left out, it runs into a limit: {file.relative_to(ROOT)}")
        return found


def _trusted() -> float:
    """CPU seconds so far of the processes that run checks."""
    return sum(cpu_of(pid) for pid in descendants() if role_of(pid) in ("lane", "desk"))


def sample(slug: str, kind: str, count: int) -> list[Path]:
    """Some submissions of a kind, evenly over the list of names; the default library only."""
    files = sorted((ROOT / "solutions" / slug / kind).glob("*.py"))
    files = [file for file in files if not file.stem.endswith("_numpy")]
    step = max(len(files) // count, 1)
    return files[::step][:count]


def one_process_each(slug: str, files: list[Path]) -> Cost:
    """The cost of one ordinary grading, on average.

    They are children of another process: this one has a lane, which ends last.
    """
    words = [PYTHON, __file__, "--slug", slug, "--ordinary", *map(str, files)]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise CannotRun("the ordinary way fails, as is told above")
    costs = [Cost(*each) for each in json.loads(done.stdout)]
    return Cost(sum(c.wall for c in costs), sum(c.cpu for c in costs)).per(len(files))


def grade_ordinarily(slug: str, files: list[Path]) -> None:
    """Prints what each takes, for `one_process_each`."""
    with surroundings() as environment:
        report = Path(environment["TMPDIR"]) / "report.json"
        costs = [process(ordinary(slug, file, report), environment, good=(0, 1)) for file in files]
    print(json.dumps([(cost.wall, cost.cpu) for cost in costs]))


def measure(warm: Warm, kind: str, files: list[Path], runs: int) -> None:
    """Prints the ratio for one kind of submissions."""
    warm.trusted.clear()
    costs = in_turn(
        runs,
        {
            "warm, a file": partial(warm.all, files),
            "ordinary, a file": partial(one_process_each, warm.slug, files),
        },
    )
    print(f"\n{warm.slug}, {kind}: {len(files)} files, {warm.gradings} gradings, {runs} runs")
    table(costs)
    trusted = statistics.median(warm.trusted[1:])
    share = trusted / max(statistics.median(cost.cpu for cost in costs["warm, a file"]), 1e-9)
    print(f"trusted: {trusted * 1e3:.1f} ms of CPU time a file, {share:.0%} of it")
    rate = 1 / statistics.median(cost.wall for cost in costs["warm, a file"])
    print(f"{rate:.1f} gradings a second in one lane")
    ratio("ordinary ÷ warm", costs["ordinary, a file"], costs["warm, a file"], GOAL, judge="cpu")


def main() -> None:
    """Measures what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="rounds (default: 5)")
    parser.add_argument("--files", type=int, default=5, metavar="N", help="files of a kind")
    parser.add_argument("--gradings", type=int, default=40, metavar="N", help="warm, in a round")
    parser.add_argument("--slug", help="measure this problem only")
    parser.add_argument("--kind", choices=KINDS, help="measure these files only")
    parser.add_argument("--ordinary", nargs="+", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ordinary:
        grade_ordinarily(options.slug, options.ordinary)
        return
    sys.path.insert(0, str(ROOT))
    from grader import kit as kits
    from grader.lanes import Lanes

    with Lanes(kits.find(ROOT), 1) as lanes:
        for slug in slugs(options.slug):
            warm = Warm(lanes, slug, options.gradings)
            warm.grade([solution(slug)])
            for kind in [options.kind] if options.kind else KINDS:
                files = warm.quick(sample(slug, kind, options.files))
                if not files:
                    raise CannotRun(f"solutions/{slug}/{kind} has no file to measure with")
                measure(warm, kind, files, options.runs)


if __name__ == "__main__":
    run_bench(main)
