"""How many gradings a second one process does, once it is warm, and how that compares.

    python tests/bench/grade.py [--slug verify] [--files 5] [--runs 5]

One process with one launcher grades right and wrong files one after another, as a batch does in one
lane: hidden checks included, a fresh worker for every file. Compared with it is the ordinary way, a
pytest process for every file (see ordinary.py), over the same files. CPU time counts the whole tree
of processes: that is what a machine full of gradings has to pay, and what the goal is about. The
ratio is ordinary ÷ warm, so more is better. Trusted is the CPU time of this process alone, which
runs the checks; the rest is that of the worker processes.

Submissions that wait for a time limit are left out: they measure the limit.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from measuring import (
    ROOT,
    CannotRun,
    Cost,
    Goal,
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


class Warm:
    """One process, one launcher, one problem: what grades file after file."""

    def __init__(self, started: Any, slug: str) -> None:
        from grader import kit, problem

        self.started = started
        self.kit = kit.find(ROOT)
        self.problem = problem.load(self.kit, slug)
        self.trusted: list[float] = []
        self.seed = 0

    def grade(self, file: Path) -> Any:
        """The report on one file."""
        from grader import session, submission_file

        source = submission_file.read(file)
        library = submission_file.chosen_library(
            "auto", source, self.problem.slug, self.problem.libraries
        )
        self.seed += 1
        return session.grade(
            self.kit, self.problem, source, library=library, started=self.started, seed=self.seed
        )

    def all(self, files: list[Path]) -> Cost:
        """The cost of one of these gradings, on average."""
        began = time.process_time()
        with measured() as found:
            for file in files:
                self.grade(file)
        self.trusted.append((time.process_time() - began) / len(files))
        return found[0].per(len(files))

    def quick(self, files: list[Path]) -> list[Path]:
        """Those of the files that are graded without waiting for a limit."""
        found = []
        for file in files:
            began = time.perf_counter()
            self.grade(file)
            if time.perf_counter() - began < TOO_LONG:
                found.append(file)
            else:
                print(f"left out, it runs into a limit: {file.relative_to(ROOT)}")
        return found


def sample(slug: str, kind: str, count: int) -> list[Path]:
    """Some submissions of a kind, evenly over the list of names; the default library only."""
    files = sorted((ROOT / "solutions" / slug / kind).glob("*.py"))
    files = [file for file in files if not file.stem.endswith("_numpy")]
    step = max(len(files) // count, 1)
    return files[::step][:count]


def measure(warm: Warm, slug: str, kind: str, files: list[Path], runs: int) -> None:
    """Prints the ratio for one kind of submissions."""
    with surroundings() as environment:

        def one_process_each() -> Cost:
            report = Path(environment["TMPDIR"]) / "report.json"
            costs = [
                process(ordinary(slug, file, report), environment, good=(0, 1)) for file in files
            ]
            return Cost(sum(c.wall for c in costs), sum(c.cpu for c in costs)).per(len(files))

        warm.trusted.clear()
        costs = in_turn(
            runs, {"warm, a file": partial(warm.all, files), "ordinary, a file": one_process_each}
        )
    print(f"\n{slug}, {kind}: {len(files)} files, {runs} runs")
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
    parser.add_argument("--slug", help="measure this problem only")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))

    from grader.workers import launcher

    started = launcher("auto")
    for slug in slugs(options.slug):
        warm = Warm(started, slug)
        warm.grade(solution(slug))
        for kind in ("right", "wrong"):
            files = warm.quick(sample(slug, kind, options.files))
            if not files:
                raise CannotRun(f"solutions/{slug}/{kind} has no file to measure with")
            measure(warm, slug, kind, files, options.runs)
    started.close()


if __name__ == "__main__":
    run_bench(main)
