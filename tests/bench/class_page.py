"""What the class page takes: to make it, and to open it in a browser.

    python tests/bench/class_page.py [--submissions 100000] [--keep FOLDER]

A results folder of so many submissions is made from recorded outcomes: a few known files of every
problem are really graded, each of their score documents is varied (another answer in its messages),
and every submission gets one of them. Documents are hard links, for a class of 100,000 takes some
3 GB otherwise; reading and decoding them is the same. Nothing else is graded.

The page is made by a process of its own, so that what this one needs is not in its memory. Where
Chromium is installed the page is opened three times, and tells itself how long it took from the
start of the navigation until it could be used.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring import PYTHON, ROOT, CannotRun, progress, run_bench, slugs

sys.path.insert(0, str(ROOT))

KNOWN = 12  # known files of a problem that are graded
VARIANTS = 100  # of the score document of each
GOAL = 3.0  # seconds until the page can be used

_MAKE = """\
import resource, sys, time
from pathlib import Path
from grader.batch import page
began = time.perf_counter()
path = page.write(Path(sys.argv[1]))
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, path)
"""


def documents(slug: str) -> list[dict[str, Any]]:
    """Score documents of a problem's reference and of some of its known-wrong files."""
    from grader import kit, problem, session, submission_file, workers

    found_kit = kit.find(ROOT)
    exercise = problem.load(found_kit, slug)
    wrong = sorted((ROOT / "solutions" / slug / "wrong").glob("*.py"))
    solution = ROOT / "solutions" / slug / "solution.py"
    if not solution.is_file():
        raise CannotRun("no solutions here, so there are no known files to grade")
    found = []
    started = workers.launcher("auto")
    try:
        for path in [solution, *wrong[:: max(len(wrong) // (KNOWN - 1), 1)]][:KNOWN]:
            progress(f"grading {slug}/{path.name}")
            source = submission_file.read(path)
            library = submission_file.chosen_library("auto", source, slug, exercise.libraries)
            report = session.grade(
                found_kit, exercise, source, library=library, seed=1, started=started, on_trust=True
            )
            found.append(report.as_dict())
    finally:
        started.close()
        progress("")
    return found


def varied(document: dict[str, Any], number: int) -> dict[str, Any]:
    """The document with another number behind each `got`."""
    text = json.dumps(document)
    return json.loads(re.sub(r"got (?=[\d\[-])", f"got {number / 1000}; ", text))


def make(folder: Path, graded: dict[str, list[dict[str, Any]]], submissions: int) -> None:
    """Writes a results folder of so many submissions."""
    (folder / "scores").mkdir(parents=True)
    originals = folder / "originals"
    originals.mkdir()
    rows, luck = [], random.Random(0)
    for number in range(submissions):
        learner = f"Learner {number // len(graded):06}"
        slug = list(graded)[number % len(graded)]
        if luck.random() < 0.01:
            rows.append(_row(learner, slug, status="missing", reason="no file for this problem"))
            continue
        # The right file is handed in most often, and of the others some are much liked.
        which = min(int(luck.expovariate(0.3)), len(graded[slug]) - 1)
        variant = luck.randrange(VARIANTS)
        original = originals / f"{slug}-{which}-{variant}.json"
        document = graded[slug][which]
        if not original.exists():
            text = json.dumps(varied(document, variant), indent=2) + "\n"
            original.write_text(text, encoding="utf-8")
        name = f"scores/Learner_{number // len(graded):06}--{slug}.json"
        os.link(original, folder / name)
        cause = document["likely_cause"]
        code = f"{slug} {which} {variant if luck.random() < 0.001 else number}"
        rows.append(
            _row(
                learner,
                slug,
                file=f"{slug}.py",
                sha256=document["submission"]["sha256"],
                status="graded",
                score=document["score"],
                max_score=document["max_score"],
                extra=document["extra"]["earned"],
                verdict=document["verdict"],
                likely_cause=cause["sentence"] if cause else None,
                seconds=document["seconds"],
                score_file=name,
                source_group=hashlib.sha256(code.encode()).hexdigest(),
            )
        )
    shutil.rmtree(originals)
    with (folder / "results.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    manifest = {
        "format": 1,
        "class": f"{submissions} submissions",
        "finished_at": "2026-01-01T00:00:00Z",
        "problems": {slug: {"title": found[0]["title"]} for slug, found in graded.items()},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def _row(learner: str, slug: str, **fields: Any) -> dict[str, Any]:
    names = """file sha256 reason score max_score extra verdict likely_cause seconds score_file
               key source_group""".split()
    return {"learner": learner, "problem": slug, **dict.fromkeys(names), **fields}


def open_in(browser: str, page: Path) -> float:
    """Seconds from the start of the navigation until the page's script has done its work."""
    with tempfile.TemporaryDirectory(prefix="bench-") as profile:
        command = [
            *(browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic"),
            *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
            *("--disable-sync", f"--user-data-dir={profile}", "--dump-dom", page.as_uri()),
        ]
        found = subprocess.run(command, capture_output=True, check=False, timeout=120)
    ready = re.search(rb'data-ready="(\d+)"', found.stdout[:1000])
    if ready is None:
        raise CannotRun(f"{browser} opened the page, and its script did not come to an end")
    return int(ready[1]) / 1000


def chromium() -> str | None:
    """A Chromium or Chrome of this machine."""
    names: Sequence[str] = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--submissions", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="a new folder to leave the results in")
    asked = parser.parse_args()
    graded = {slug: documents(slug) for slug in slugs(None)}
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = (asked.keep or Path(temporary) / "results").resolve()
        progress("writing the results folder")
        make(folder, graded, asked.submissions)
        progress("making the page")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        found = subprocess.run(
            [PYTHON, "-c", _MAKE, str(folder)], env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        progress("")
        if found.returncode:
            raise CannotRun(found.stderr.strip().rpartition("\n")[2])
        seconds, memory, path = found.stdout.split(maxsplit=2)
        page = Path(path.strip())
        print(f"submissions     {asked.submissions:,}")
        print(f"made in         {float(seconds):.1f} s")
        print(f"memory          {int(memory) / 1024:.0f} MiB at most")
        print(f"page            {page.stat().st_size / 1e6:.1f} MB")
        browser = chromium()
        if browser is None:
            print("opens in        not measured: no Chromium on this machine")
            return
        times = sorted(open_in(browser, page) for _ in range(3))
        met = "met" if times[1] < GOAL else "MISSED"
        print(f"opens in        {times[1]:.2f} s (least {times[0]:.2f})  must < {GOAL:g} s: {met}")


if __name__ == "__main__":
    run_bench(main)
