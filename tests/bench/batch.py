"""What it takes to grade a class of 200, compared with otter-grader, which grades a file at a time.

    python tests/bench/batch.py [--files 200] [--runs 3] [--jobs N] [--otter PYTHON]

The class is of right and wrong files of every problem, and graded by one `grade batch` command from
cold: with all locks, hidden checks, and a score document for everybody. Otter is run as its manual
has it, `otter run` for one file after another, on the simplest assignment that there is: a function
of one line and one test that calls it once. It loads no PyTorch and keeps nothing apart. Its time
is that of a few files, divided by their number; ours that of the command, divided by all of them.
The ratio is otter ÷ ours, so more is better.

--otter names the Python of an environment with otter-grader 7 and its extra `grading`; else one is
made in a temporary folder, which downloads some 500 MB. Submissions that run into a time limit are
left out of the class: they measure the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import classes
from classes import File
from grade import TOO_LONG
from measuring import (
    PYTHON,
    CannotRun,
    Cost,
    Goal,
    in_turn,
    process,
    progress,
    ratio,
    run_bench,
    slugs,
    surroundings,
    table,
)

GOAL = Goal(must=60.0, aim=120.0, least=True)
OTTER = "otter-grader[grading]==7.*"
_TEST = """\
OK_FORMAT = True

test = {
    "name": "q1",
    "points": 1,
    "suites": [{"cases": [{"code": ">>> plus_one(1)\\n2", "hidden": False, "locked": False}]}],
}
"""
_SUBMISSION = "def plus_one(number):\n    return number + 1\n"


class Otter:
    """Otter-grader, with its simplest assignment in a folder."""

    def __init__(self, python: str, folder: Path, environment: Mapping[str, str]) -> None:
        self.python = python
        self.folder = folder
        # It writes settings into its user's home.
        self.environment = {**environment, "HOME": str(folder)}
        del self.environment["PYTHONPATH"]
        self.submission, self.archive = folder / "plus_one.py", folder / "autograder.zip"
        (folder / "tests").mkdir(parents=True)
        (folder / "tests" / "q1.py").write_text(_TEST, encoding="utf-8")
        self.submission.write_text(_SUBMISSION, encoding="utf-8")
        self.version = self._asked("-c", "import otter; print(otter.__version__)")
        if not self.version.startswith("7."):
            raise CannotRun(f"{python} has otter-grader {self.version}, and this is about 7")
        words = ("-t", folder / "tests", "-o", self.archive)
        self._asked("-m", "otter", "generate", *map(str, words))

    def grade(self, files: int) -> Cost:
        """The cost of one grading, where so many are made one after another."""
        words = ("run", self.submission, "-a", self.archive, "-o", self.folder, "--no-logo")
        command = [self.python, "-m", "otter", *map(str, words)]
        costs = [process(command, self.environment) for _ in range(files)]
        found = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        if [test["score"] for test in found["tests"] if test["name"] == "q1"] != [1.0]:
            raise CannotRun("otter did not give its own assignment full marks")
        return Cost(sum(c.wall for c in costs), sum(c.cpu for c in costs)).per(files)

    def _asked(self, *words: str) -> str:
        """What otter's Python prints; CannotRun where it fails."""
        try:
            done = subprocess.run(
                (self.python, *words), env=self.environment, cwd=self.folder,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        except OSError as error:
            raise CannotRun(f"--otter {self.python}: {error.strerror}") from None
        if done.returncode:
            last = done.stderr.strip().rpartition("\n")[2]
            raise CannotRun(f"otter-grader does not run with {self.python}: {last}")
        return done.stdout.strip()


@contextmanager
def python_with_otter(given: Path | None) -> Iterator[str]:
    """The Python of an environment that has otter-grader."""
    if given is not None:
        yield str(given.absolute())
        return
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        python = str(Path(folder) / "bin" / "python")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        progress(f"installing {OTTER}")
        for command in (
            (PYTHON, "-m", "venv", folder),
            (python, "-m", "pip", "install", "--quiet", OTTER),
        ):
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
                raise CannotRun(
                    f"{OTTER} cannot be installed here ({lines[-1]}); "
                    "give the Python of an environment that has it with --otter"
                )
        progress("")
        yield python


def quick(files: Sequence[File], folder: Path, environment: Mapping[str, str]) -> list[File]:
    """Those of the files that are graded without waiting for a limit, each graded once for that."""
    classes.hand_in(folder / "class", files)
    progress(f"looking for files that run into a limit, among {len(files)}")
    process(classes.batch(folder / "class", folder / "R"), environment)
    progress("")
    seconds = {row["learner"]: row["seconds"] for row in classes.rows(folder / "R")}
    kept = [file for at, file in enumerate(files) if seconds[classes.learner(at)] < TOO_LONG]
    print(
        f"{len(files) - len(kept)} of {len(files)} known files run into a limit, and are left out"
    )
    return kept


def main() -> None:
    """Grades a class with both, in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=200, metavar="N", help="in the class")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="rounds (default: 3)")
    parser.add_argument("--jobs", type=int, metavar="N", help="lanes (default: one a core)")
    parser.add_argument("--otter", type=Path, metavar="PYTHON", help="one that has otter-grader 7")
    parser.add_argument("--otter-files", type=int, default=5, metavar="N", help="in a round")
    options = parser.parse_args()
    known = [
        file
        for slug in slugs(None)
        for kind in ("right", "wrong")
        for file in classes.known(slug, kind)
    ]
    with (
        surroundings() as environment,
        tempfile.TemporaryDirectory(prefix="bench-") as name,
        python_with_otter(options.otter) as python,
    ):
        folder = Path(name)
        otter = Otter(python, folder / "otter", environment)
        files = quick(classes.spread(known, min(options.files, len(known))), folder, environment)
        files = classes.spread(files, options.files)
        classes.hand_in(folder / "of all", files)
        numbers = count()
        jobs = () if options.jobs is None else ("--jobs", options.jobs)

        def grade_batch() -> Cost:
            out = folder / f"R{next(numbers)}"
            cost = process(classes.batch(folder / "of all", out, *jobs), environment)
            classes.all_graded(out, len(files))
            return cost.per(len(files))

        costs = in_turn(
            options.runs,
            {
                "otter run, a file": partial(otter.grade, options.otter_files),
                "grade batch, a file": grade_batch,
            },
        )
    lanes = options.jobs or len(os.sched_getaffinity(0))
    print(f"\n{len(files)} files, {lanes} lanes, {options.runs} runs; otter-grader {otter.version}")
    table(costs)
    ours = costs["grade batch, a file"]
    print(
        f"grade batch: {min(cost.wall for cost in ours) * len(files):.1f} s for all, at the least"
    )
    ratio("otter run ÷ grade batch", costs["otter run, a file"], ours, GOAL)


if __name__ == "__main__":
    run_bench(main)
