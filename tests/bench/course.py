"""A course of 100,000 submissions: what its results folder takes to fill, go on with, and show.

    python tests/bench/course.py [--submissions 100000] [--keep FOLDER]

Outcomes are recorded, nothing is graded but a few known files of every problem, by lanes. The class
lies on disk, a folder for each learner with a file for each problem, some of which cannot be read.
Every file gets one of the recorded outcomes, with other numbers in its messages, from an engine
that has them all; everything else a batch does is done, and told by the submission.

Then a line each for what takes time as the folder grows, in processes of their own: the same `grade
batch` once more, which has nothing left to grade; results.jsonl and grades.csv; `grade report`; and
the page in a browser, until it can be used. Memory is the most that the process had; of a browser,
what all of its processes had together. 100,000 submissions take some 3 GB of disk.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import class_page
import classes
from classes import GRADE, MIB, File
from measuring import (
    PYTHON,
    ROOT,
    CannotRun,
    descendants,
    progress,
    run_bench,
    slugs,
    surroundings,
)

sys.path.insert(0, str(ROOT))

from grader import kit as kits
from grader import problem, submission_file
from grader.batch import grading
from grader.lanes import Job, Lanes
from grader.report import Report, SubmissionFile
from tests import kits as tiny_kits

SEED = 1
KNOWN = 12  # known files of a problem that are graded
VARIANTS = 100  # of what each of them is told
UNREADABLE = 500  # one file of so many
COPIED = 100  # likewise, the same as somebody else's

_WRITE_TABLES = """\
import sys, time
from pathlib import Path
from grader.batch.results import Results
Results(Path(sys.argv[1])).close()
"""


@dataclass(frozen=True)
class Recorded:
    """A known file, and the report on it."""

    file: File
    report: Any


def recorded(kit_folder: Path, tiny: str, most: int) -> dict[str, list[Recorded]]:
    """Some files of every problem, right ones first, graded; `most` of each."""
    files: dict[str, list[File]] = {}
    for slug in slugs(None):
        right, wrong = (classes.known(slug, kind) for kind in ("right", "wrong"))
        files[slug] = classes.spread(right, 1) + classes.spread(wrong, min(most - 1, len(wrong)))
    adds_two = tiny_kits.RIGHT.replace("+ 1", "+ 2")
    files[tiny] = [File(tiny, "any", "", text.encode()) for text in (tiny_kits.RIGHT, adds_two)]
    kit = kits.find(kit_folder)
    found = {}
    with Lanes(kit) as lanes:
        for slug, of_slug in files.items():
            progress(f"grading {len(of_slug)} files of {slug}")
            libraries = problem.load(kit, slug).libraries
            futures = []
            for file in of_slug:
                source = submission_file.of_bytes(f"{slug}.py", file.data, "")
                library = submission_file.chosen_library("auto", source, slug, libraries)
                futures.append(lanes.submit(Job(slug, source, library, SEED)))
            reports = [future.result() for future in futures]
            if not all(isinstance(report, Report) for report in reports):
                raise CannotRun(f"{slug}: the kit is at fault; see grade run")
            found[slug] = [*map(Recorded, of_slug, reports)]
    progress("")
    return found


def hand_in(place: Path, known: Mapping[str, list[Recorded]], submissions: int) -> None:
    """Writes the class: every problem's file in a folder for each learner."""
    luck = random.Random(0)
    for number in range(submissions):
        person, which = divmod(number, len(known))
        slug = [*known][which]
        path = place / classes.learner(person) / f"{slug}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        # The right file is handed in most often, and of the others some are much liked.
        at = min(int(luck.expovariate(0.3)), len(known[slug]) - 1)
        mine = 0 if luck.random() < 1 / COPIED else number
        data = known[slug][at].file.data + f"\nmine = {at, mine}\n".encode()
        path.write_bytes(b"\xff\xfe" if luck.random() < 1 / UNREADABLE else data)
        progress(f"handing in: {number} of {submissions}")


def told_otherwise(report: Any, variant: int) -> Any:
    """The report with another number behind each `got`."""

    def other(text: str | None) -> str | None:
        return text and re.sub(r"got (?=[\d\[-])", f"got {variant / 1000}; ", text)

    return replace(
        report,
        checks=tuple(
            replace(
                check,
                message=other(check.message),
                cases=replace(check.cases, first_failure=other(check.cases.first_failure)),
            )
            for check in report.checks
        ),
    )


class Recordings:
    """An engine that has every report already: what `grading.grade` knows as its lanes."""

    def __init__(self, known: Mapping[str, list[Recorded]]) -> None:
        self.count = 2
        self.made = 0
        self.reports = {
            slug: [[told_otherwise(each.report, v) for v in range(VARIANTS)] for each in of_slug]
            for slug, of_slug in known.items()
        }

    def submit(self, job: Job) -> Future[Any]:
        """The report on whatever known file this one was made from."""
        self.made += 1
        source = job.source
        at = int(source.text.rpartition("mine = (")[2].partition(",")[0])
        file = SubmissionFile(source.name, source.sha256, source.size)
        future: Future[Any] = Future()
        future.set_result(
            replace(self.reports[job.slug][at][self.made % VARIANTS], submission=file)
        )
        return future


def fill(kit_folder: Path, place: Path, out: Path, known: Mapping[str, list[Recorded]]) -> float:
    """Grades the class, with recordings for an engine; seconds for one."""
    engine, lanes = Recordings(known), grading.Lanes
    grading.Lanes = lambda *_: nullcontext(engine)  # type: ignore[assignment, misc, return-value]
    began = time.perf_counter()
    try:
        grading.grade(
            kits.find(kit_folder),
            place,
            out,
            grading.Plan(seed=SEED),
            lambda done, of, _: progress(f"recording: {done} of {of}"),
        )
    finally:
        grading.Lanes = lanes  # type: ignore[misc]
    return (time.perf_counter() - began) / engine.made


def browser_memory(browser: str, page: Path) -> int:
    """Bytes that a browser has for itself while it opens the page; shared ones are shared out."""
    most, over = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.05):
            with contextlib.suppress(OSError):
                most = max(most, sum(map(_own_memory, descendants())))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        class_page.open_in(browser, page)
    finally:
        over.set()
        watcher.join()
    return most


def _own_memory(pid: int) -> int:
    """Bytes of a process, each page that it shares in equal parts; 0 where it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def line(what: str, seconds: float | None, memory: int | None, note: str = "") -> None:
    """Prints what something took."""
    time_of = "" if seconds is None else f"{seconds:.2f} s"
    of_memory = "" if memory is None else f"{memory / MIB:.0f} MiB"
    print(f"{what:<28} {time_of:>11} {of_memory:>9}  {note}".rstrip(), flush=True)


def size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"


def measure(kit_folder: Path, place: Path, out: Path, environment: dict[str, str]) -> None:
    """Prints a line for each thing that is done with a folder that is full."""
    environment = {**environment, "PYTHONPATH": str(ROOT)}
    count = sum(1 for _ in place.glob("*/*.py"))
    began = time.time()
    again = classes.watched(classes.batch(place, out, "--seed", SEED, kit=kit_folder), environment)
    if any(each.stat().st_mtime > began for each in os.scandir(out / "scores")):
        raise CannotRun("a batch that had nothing left to grade has graded")
    note = f"{again.cost.wall / count * 1e3:.2f} ms each; nothing was graded"
    line("the same batch again", again.cost.wall, again.peaks.get("command"), note)
    tables = classes.watched([PYTHON, "-c", _WRITE_TABLES, str(out)], environment, every=0.02)
    name = [f"{name} {size(out / name)}" for name in ("results.jsonl", "grades.csv")]
    line("results.jsonl, grades.csv", tables.cost.wall, tables.peaks.get("other"), ", ".join(name))
    line("manifest.json", None, None, size(out / "manifest.json"))
    report = classes.watched([*GRADE, "report", str(out)], environment, every=0.02)
    page = out / "report.html"
    line("grade report", report.cost.wall, report.peaks.get("command"), f"page {size(page)}")
    browser = class_page.chromium()
    if browser is None:
        print("the page in a browser        not measured: no Chromium on this machine")
        return
    times = sorted(class_page.open_in(browser, page) for _ in range(3))
    memory = browser_memory(browser, page)
    met = "met" if times[1] < class_page.GOAL else "MISSED"
    note = f"least {times[0]:.2f} s; must < {class_page.GOAL:g} s: {met}"
    line("the page in a browser", times[1], memory, note)


def main() -> None:
    """Makes the course and measures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=100_000, metavar="N")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="a new one, to leave it all in")
    options = parser.parse_args()
    with surroundings() as environment, tempfile.TemporaryDirectory(prefix="bench-") as name:
        os.environ["XDG_CACHE_HOME"] = environment["XDG_CACHE_HOME"]
        folder = options.keep.resolve() if options.keep else Path(name)
        kit, place, out = (folder / part for part in ("kit", "class", "results"))
        most = max(min(KNOWN, options.submissions // 10), 2)
        known = recorded(kit, classes.mixed_kit(kit), most)
        hand_in(place, known, options.submissions)
        each = fill(kit, place, out, known)
        progress("")
        print(f"{options.submissions} submissions for {len(known)} problems")
        line("a batch, by the submission", None, None, f"{each * 1e3:.2f} ms without its grading")
        measure(kit, place, out, environment)


if __name__ == "__main__":
    run_bench(main)
