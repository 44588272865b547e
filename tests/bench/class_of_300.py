"""A class of 300 of every kind: graded at once as each alone, and after five kills as in one go.

    python tests/bench/class_of_300.py [--size 300] [--compare N] [--kills 5] [--keep FOLDER]

The class is made of right, wrong and stream files of the problems here and of attacks from
tests/hostile, which have their targets, for a kit with one more problem that most attacks are on:
a few of each kind, evenly over all names, the same every time. One `grade batch` grades it.

Then every file is graded alone by `grade run` with the same seed (--compare: so many of them), and
the score document has to be the same, times aside. An attack may be told something else, in words,
than it was before (an address, how far it got), and so may a file that draws random numbers which
nobody seeds; points, outcomes and verdict may not differ.

Then the same batch is killed with SIGKILL, its whole process group, at random moments, and begun
again each time. Nothing that it leaves may be half, no process may stay, and it may grade again one
file at the most of those whose score it had written. At the end the rows, the table and every score
document have to be those of the batch that was left alone.

Leaves with 1 where anything differs, and tells the first differences.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import classes
from classes import GRADE, File
from measuring import ROOT, CannotRun, progress, run_bench, slugs, surroundings

sys.path.insert(0, str(ROOT))

SEED = 7
SHARES = {"right": 0.2, "wrong": 0.5, "stream": 0.06}  # the rest is hostile
MOST_HANGING = 20  # attacks that wait for a limit
TOLD = 10  # differences
_OWN_LUCK = re.compile(rb"\bimport random\b|\bnp\.random\b|\bdefault_rng\b")
GONE = 10.0  # seconds until every process of a killed batch has ended


# The class ---------------------------------------------------------------------------------------


def chosen(size: int, tiny: str, targets: dict[str, Any]) -> list[File]:
    """The files of the class, kinds mixed."""
    found: list[File] = []
    for kind, share in SHARES.items():
        all_of_kind = [file for slug in slugs(None) for file in classes.known(slug, kind)]
        found += classes.spread(all_of_kind, max(round(size * share), 1))
    found += classes.spread(hostile(tiny, targets), max(size - len(found), 1))
    random.Random(SEED).shuffle(found)
    return found


def hostile(tiny: str, targets: dict[str, Any]) -> list[File]:
    """The attacks of tests/hostile on the problems of the kit, aimed at their targets."""
    from tests import hostile_places

    own = {slug: slug for slug in slugs(None)} | {"next": tiny}
    waiting, others = [], []
    for attack in hostile_places.attacks():
        if attack.problem not in own or attack.machine not in (None, os.uname().machine):
            continue
        slug = own[attack.problem]
        name = f"{slug}_{attack.name}.py"
        file = File(slug, "hostile", name, attack.aimed_at(targets).encode())
        expected = attack.expected("locked")
        waits = expected is not None and "took longer" in expected.hears
        (waiting if waits else others).append(file)
    return sorted(others + waiting[:MOST_HANGING], key=lambda file: file.name)


@contextmanager
def targets() -> Iterator[dict[str, Any]]:
    """What the attacks go for: files, listeners and a process, while this lasts."""
    from tests.hostile_places import Places

    places = Places()
    try:
        yield places.targets()
    finally:
        places.close()


# What two gradings of one file have in common ----------------------------------------------------


def marks(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a document says that counts, by name."""
    names = ("error", "score", "max_score", "passed", "verdict", "extra")
    found = {name: document.get(name) for name in names}
    for check in document.get("checks", ()):
        found[check["id"]] = (check["outcome"], check["earned"])
    return found


def unlike(file: File, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """In what two documents on a file differ that may not; times never count."""
    from tests.test_faults import plain

    before, after = marks(one), marks(other)
    if before == after and file.kind != "hostile" and not _OWN_LUCK.search(file.data):
        before, after = plain(dict(one)), plain(dict(other))
    return [
        f"{name}: {before.get(name)!r:.150} and {after.get(name)!r:.150}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


class Graded:
    """A RESULTS folder: its rows by learner, and the score document of each."""

    def __init__(self, out: Path) -> None:
        self.table = (out / "grades.csv").read_bytes()
        self.rows = {row["learner"]: {**row, "seconds": None} for row in classes.rows(out)}
        self.documents = {
            learner: json.loads((out / row["score_file"]).read_text(encoding="utf-8"))
            for learner, row in self.rows.items()
            if row["score_file"]
        }


def compare(
    graded: Graded, files: Sequence[File], others: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """The differences of score documents by learner; and of rows to their own documents."""
    found = []
    for at, file in enumerate(files):
        learner = classes.learner(at)
        if learner not in others:
            continue
        if learner not in graded.documents:
            found.append(f"{file.name}: {graded.rows.get(learner, 'no row')!r:.200}")
            continue
        document, row = graded.documents[learner], graded.rows[learner]
        found += [f"{file.name}: {text}" for text in unlike(file, document, others[learner])]
        found += [
            f"{file.name}: the row and its document differ in {name}"
            for name in ("score", "max_score", "verdict")
            if row[name] != document[name]
        ]
    return found


# The phases --------------------------------------------------------------------------------------


def run(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True,
        encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip


def alone(
    paths: Mapping[str, Path], files: Sequence[File], kit: Path, folder: Path,
    environment: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """The documents of `grade run`, by learner; one that was not written says so."""

    def grade(learner: str, slug: str) -> Any:
        target = folder / f"{learner}.json"
        options = ("--problem", slug, "--seed", SEED, "--json", target)
        words = map(str, (*GRADE, "--kit", kit, "run", paths[learner], *options))
        done = run([*words], environment)
        if not target.exists():
            return {"error": f"exit code {done.returncode}: {done.stderr.strip()[-200:]}"}
        return json.loads(target.read_text(encoding="utf-8"))

    folder.mkdir()
    slug_of = {classes.learner(at): file.slug for at, file in enumerate(files)}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        futures = {learner: pool.submit(grade, learner, slug_of[learner]) for learner in paths}
        found = {}
        for number, (learner, future) in enumerate(futures.items(), 1):
            found[learner] = future.result()
            progress(f"graded alone: {number} of {len(paths)}")
    progress("")
    return found


def kill_and_resume(
    command: Sequence[str], out: Path, moments: Sequence[float], environment: Mapping[str, str]
) -> list[str]:
    """Starts a batch, kills it at each moment, begins it again, and at last lets it end.

    moments: in seconds, of every second batch after its start, of the others after the first score
    that it writes.
    """
    from tests.test_faults import _outlive, adopting, children

    found: list[str] = []
    written: dict[str, int] = {}
    with adopting():
        for number, moment in enumerate([*moments, None], 1):
            ours = {*children(os.getpid())}
            code, told = _killed(command, out, moment, number % 2 == 0, environment)
            began = time.monotonic()
            left = _outlive(ours, GONE)
            seconds = time.monotonic() - began
            now = _scores(out)
            again = sum(name in now and now[name] != stamp for name, stamp in written.items())
            gone = len(written.keys() - now.keys())
            found += [f"start {number}: a process is left: {each}" for each in left]
            found += [f"start {number}: {each}" for each in _halves(out)]
            if again + gone > 1:
                found.append(f"start {number}: {again + gone} written scores were made again")
            if code not in (0, -signal.SIGKILL):
                found.append(f"start {number}: exit code {code}: {told[-300:]}")
            if code == 0:
                print(f"  start {number} came to its end: {len(now)} scores, {again} made again")
            else:
                print(
                    f"  start {number} killed: {len(now)} scores, {again + gone} made again;"
                    f" its processes ended within {seconds:.2f} s"
                )
            written = now
    return found


def _killed(
    command: Sequence[str], out: Path, moment: float | None, at_once: bool,
    environment: Mapping[str, str],
) -> tuple[int, str]:  # fmt: skip
    """Exit code and words of a batch that is killed, with its whole group, if it is not over."""
    before = _scores(out)
    due = None if moment is None or not at_once else time.monotonic() + moment
    with tempfile.TemporaryFile() as errors:
        running = subprocess.Popen(
            command, cwd=ROOT, env=dict(environment), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
        )  # fmt: skip
        while running.poll() is None:
            if moment is not None and due is None and _scores(out).items() - before.items():
                due = time.monotonic() + moment
            if due is not None and time.monotonic() > due:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
            time.sleep(0.005)
        errors.seek(0)
        return running.returncode, errors.read().decode(errors="replace")


def _scores(out: Path) -> dict[str, int]:
    """Every score document that is there, and when it was written."""
    found = {}
    for path in out.glob("scores/[!.]*.json"):
        with contextlib.suppress(FileNotFoundError):  # a batch that begins has removed it
            found[path.name] = path.stat().st_mtime_ns
    return found


def _halves(out: Path) -> list[str]:
    """Files of RESULTS that are not whole."""
    from tests.test_faults import legal

    found = []
    for path in (
        *out.glob("scores/[!.]*.json"),
        *out.glob("results.jsonl"),
        *out.glob("man*.json"),
    ):
        text = path.read_text(encoding="utf-8")
        try:
            if path.parent.name == "scores":
                legal(text)
            else:
                assert text.endswith("\n") or not text
                for piece in text.splitlines() if path.suffix == ".jsonl" else [text]:
                    json.loads(piece)
        except Exception as error:
            found.append(f"{path.name} is not whole: {error}"[:200])
    return found


def grader() -> dict[Path, int]:
    """Every file of the grader, and when it was written."""
    return {path: path.stat().st_mtime_ns for path in (ROOT / "grader").glob("**/*.py")}


def require_same(code: Mapping[Path, int]) -> None:
    """CannotRun where the grader is another than it was."""
    if grader() != code:
        raise CannotRun("the grader was edited while this ran; run it again when nobody does")


def say(what: str, differences: Sequence[str]) -> bool:
    """Prints what came of a phase; whether nothing differs."""
    print(f"{what}: {f'{len(differences)} DIFFER' if differences else 'the same'}")
    for each in differences[:TOLD]:
        print(f"  {each}")
    return not differences


def main() -> None:
    """Makes the class, and grades it in three ways."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=300, metavar="N", help="(default: 300)")
    parser.add_argument("--compare", type=int, metavar="N", help="files graded alone, not all")
    parser.add_argument("--kills", type=int, default=5, metavar="N", help="(default: 5)")
    parser.add_argument("--luck", type=int, default=1, metavar="SEED", help="of the moments")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="a new one, to leave it all in")
    options = parser.parse_args()
    with (
        surroundings() as environment,
        tempfile.TemporaryDirectory(prefix="bench-") as name,
        targets() as aims,
    ):
        folder = options.keep.resolve() if options.keep else Path(name)
        kit, place, whole, resumed = (folder / p for p in ("kit", "class", "whole", "resumed"))
        tiny = classes.mixed_kit(kit)
        files = chosen(options.size, tiny, aims)
        paths = classes.hand_in(place, files)
        kinds = Counter(file.kind for file in files)
        print(f"{len(files)} files: " + ", ".join(f"{n} {kind}" for kind, n in kinds.items()))

        code, began = grader(), time.monotonic()
        done = run(classes.batch(place, whole, "--seed", SEED, kit=kit), environment)
        seconds = time.monotonic() - began
        print(f"one batch: {seconds:.1f} s, exit code {done.returncode}; {done.stdout.strip()}")
        if (
            done.returncode
        ):  # where there are no locks it refuses: these files attack whoever grades
            raise CannotRun(done.stderr.strip()[-500:])
        graded = Graded(whole)
        verdicts = Counter(row["verdict"] or row["status"] for row in graded.rows.values())
        print("  " + ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()))

        by_learner = {classes.learner(at): path for at, path in enumerate(paths)}
        some = classes.spread([*by_learner], options.compare or len(files))[: len(files)]
        wanted = {learner: by_learner[learner] for learner in some}
        documents = alone(wanted, files, kit, folder / "alone", environment)
        require_same(code)
        same = say(f"{len(documents)} of them alone", compare(graded, files, documents))

        luck = random.Random(options.luck)
        longest = seconds / max(options.kills, 1)
        moments = [luck.uniform(0, longest) for _ in range(options.kills)]
        command = classes.batch(place, resumed, "--seed", SEED, kit=kit)
        print(f"killed {options.kills} times and begun again")
        broken = kill_and_resume(command, resumed, moments, environment)
        after = Graded(resumed)
        require_same(code)
        broken += compare(after, files, graded.documents)
        if after.rows != graded.rows:
            names = [n for n in graded.rows if after.rows.get(n) != graded.rows[n]]
            broken.append(f"{len(names) or 'some'} rows of results.jsonl differ: {names[:3]}")
        if after.table != graded.table:
            broken.append("grades.csv differs")
        if not say("its results", broken) or not same:
            sys.exit(1)


if __name__ == "__main__":
    run_bench(main)
