"""Bytes that nobody meant, by the million, against everything that reads what a worker sends.

    python tests/bench/fuzz.py [--target wire|decode|replies|clean|score|all]
                               [--executions 10000000] [--seconds S]

It needs atheris, which is no dependency of this project: pip install atheris

The inputs are found by atheris (libFuzzer), which sees which lines of the grader each one reaches
and goes on from those that reach new ones; it begins with frames of a real grading. The judges are
those of tests/test_fuzz.py: rules written a second time, which have to agree with the grader on
every input. At first it sees the lines of the judges as well: Python's json is written in C and
shows nothing of the ways through it. That takes three times as long, so the most run without.

    wire     any bytes as a header, and as a stream of frames
    decode   any JSON, and claims made to be nearly right, as a value
    replies  a submission whose worker answers calls with anything
    clean    any text, cleaned
    score    any text in a report: the document, the schema and the screen

A row is one target: executions, executions a second, inputs kept because they reached something
new, crashes. An input that breaks a rule, raises anything but WireError or takes 20 s is written to
a folder that stays, and the bench leaves with 1. --executions are shared out over the targets, most
to the quick ones; --seconds bounds the time of all together.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measuring import (
    PYTHON,
    ROOT,
    CannotRun,
    progress,
    run_bench,
    slugs,
    solution,
    surroundings,
)

# What of the executions goes to which target: `score` takes a hundred times as long as `wire`.
SHARES = {"wire": 0.48, "decode": 0.115, "replies": 0.004, "clean": 0.4, "score": 0.001}
LONGEST = {"wire": 512, "decode": 250, "replies": 500, "clean": 400, "score": 300}
WATCHED = 0.02  # of the executions, the first, also see which lines of the judges are reached
HANG = 20  # seconds of one input
SEEDS = 400  # of the frames of a grading, and no longer ones than a target takes


def record(folder: Path) -> None:
    """Writes the frames and texts of real gradings below a folder, as what to begin with."""
    from grader import kit, problem, session, submission_file
    from grader.worker import wire

    frames: dict[bytes, tuple[dict[str, Any], bytes]] = {}
    receive = wire.receive

    def recorded(*arguments: Any) -> Any:
        nonce, header, payload = receive(*arguments)
        frame = wire.pack(nonce, header, bytes(payload))
        if len(frame) <= max(LONGEST.values()) and len(frames) < SEEDS:
            frames[frame[24:]] = header, bytes(payload)
        return nonce, header, payload

    found = kit.find(ROOT)
    texts: set[str] = set()
    wire.receive = recorded
    try:
        for slug in slugs(None):
            wrong = sorted((ROOT / "solutions" / slug / "wrong").glob("*.py"))
            for file in (solution(slug), *wrong[:2]):
                exercise = problem.load(found, slug)
                source = submission_file.read(file)
                library = submission_file.chosen_library("auto", source, slug, exercise.libraries)
                report = session.grade(found, exercise, source, library=library, hidden=False)
                texts |= {check.message for check in report.checks if check.message}
                texts |= {json.dumps(report.as_dict())[: LONGEST["clean"]]}
    finally:
        wire.receive = receive
    # Frames of all kinds of both problems, the shortest first.
    kept = sorted(frames, key=len)
    for number, frame in enumerate(kept):
        header, payload = frames[frame]
        seeds = {
            "wire": wire.pack(bytes(range(16)), header, payload),
            "decode": b"\0" + json.dumps(header.get("value")).encode() + b"\0" + payload,
        }
        for target, data in seeds.items():
            _seed(folder / target, str(number), data)
    for number, text in enumerate(sorted(texts)):
        for target in ("clean", "score"):
            _seed(folder / target, str(number), text.encode())
    for number in range(64):
        _seed(folder / "replies", str(number), bytes((number * k) % 251 for k in range(120)))


def _seed(folder: Path, name: str, data: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if len(data) <= LONGEST[folder.name]:
        (folder / name).write_bytes(data)


def judge_of(target: str) -> Callable[[bytes], None]:
    """What a target does with one input; raises where a rule is broken."""
    from tests import test_fuzz as judges

    def wire(data: bytes) -> None:
        judges.judge_header(data)
        judges.judge_stream(data)

    def decode(data: bytes) -> None:
        if data[:1] != b"\0":
            judges.try_value(data[1:])
            return
        text, _, payload = data[1:].partition(b"\0")
        try:
            tagged = json.loads(text)
        except (ValueError, RecursionError):
            return
        judges.judge_value(tagged, payload)

    def replies(data: bytes) -> None:
        if data[:1] and data[0] % 4 == 0:
            judges.try_tally(data[1:])
        else:
            judges.try_replies(data[1:], judges.judge_clean)

    def text_of(data: bytes) -> str:
        # Surrogates as well, which UTF-8 has no form for and a worker may still send.
        return data.decode("utf-8", "surrogateescape")

    return {
        "wire": wire,
        "decode": decode,
        "replies": replies,
        "clean": lambda data: judges.judge_clean(text_of(data)),
        "score": lambda data: judges.judge_screen(text_of(data)),
    }[target]


def fuzz(target: str, watched: str, arguments: list[str]) -> None:
    """The life of the process that fuzzes one target; ends with the process."""
    import atheris

    sys.path.insert(0, str(ROOT))
    with atheris.instrument_imports(include=watched.split(",")):
        from grader import clean, codec, render, score, submission, values  # noqa: F401
        from grader.worker import wire  # noqa: F401
        from tests import test_fuzz  # noqa: F401
    atheris.Setup([sys.argv[0], *arguments], judge_of(target))
    atheris.Fuzz()


def campaign(target: str, folder: Path, runs: int, seconds: float | None) -> tuple[int, int, bool]:
    """Fuzzes one target: executions, inputs kept, whether all was well."""
    first = max(round(runs * WATCHED), 1)
    done, well = 0, True
    for watched, part, share in (
        ("grader,tests.test_fuzz", first, 0.2),
        ("grader", runs - first, 0.8),
    ):
        if well and part > 0:
            limit = None if seconds is None else seconds * share
            more, well = _process(target, watched, folder, part, limit)
            done += more
    return done, len(list((folder / "corpus" / target).iterdir())), well


def _process(
    target: str, watched: str, folder: Path, runs: int, seconds: float | None
) -> tuple[int, bool]:
    """So many executions in a process of its own, and whether it left well."""
    corpus = folder / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    crashes = folder / "crashes"
    crashes.mkdir(exist_ok=True)
    log = folder / f"{target}.log"
    command = [
        *(PYTHON, "-P", str(Path(__file__).resolve()), "--fuzz", target, watched),
        *(str(corpus), f"-runs={runs}", f"-max_len={LONGEST[target]}", f"-timeout={HANG}"),
        *(f"-artifact_prefix={crashes}/{target}-", "-rss_limit_mb=4096", "-print_final_stats=1"),
        *((f"-max_total_time={max(int(seconds), 1)}",) if seconds is not None else ()),
    ]
    with surroundings() as environment, log.open("wb") as out:
        running = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)
        while running.poll() is None:
            time.sleep(1)
            progress(f"{target}: {_last(log)}")
    progress("")
    text = log.read_text(encoding="utf-8", errors="replace")
    done = [int(n) for n in re.findall(r"stat::number_of_executed_units: *(\d+)", text)]
    done = done or [int(n) for n in re.findall(r"^#(\d+)\t", text, re.MULTILINE)]
    if running.returncode:
        print(text[-3000:])
    return max(done, default=0), running.returncode == 0


def _last(log: Path) -> str:
    lines = log.read_bytes()[-2000:].decode("utf-8", "replace").splitlines()
    return next((line for line in reversed(lines) if line.startswith("#")), "")


def shares(executions: int, target: str) -> Iterator[tuple[str, int]]:
    """The targets, and how many executions each gets."""
    if target != "all":
        yield target, executions
        return
    for name, share in SHARES.items():
        yield name, max(round(executions * share), 1)


def main() -> None:
    """Fuzzes every target and prints what came of it."""
    if sys.argv[1:2] == ["--fuzz"]:
        fuzz(sys.argv[2], sys.argv[3], sys.argv[4:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", choices=[*SHARES, "all"], default="all")
    parser.add_argument("--executions", type=int, default=10_000_000, metavar="N")
    parser.add_argument("--seconds", type=float, metavar="S", help="for all targets together")
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        raise CannotRun("it needs atheris, which is not here: pip install atheris")
    sys.path.insert(0, str(ROOT))

    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    record(folder / "corpus")
    planned = list(shares(options.executions, options.target))
    print(f"{'target':<10}{'executions':>12}{'seconds':>10}{'a second':>10}{'kept':>8}  crashes")
    total, began, well = 0, time.monotonic(), True
    for name, runs in planned:
        start = time.monotonic()
        seconds = options.seconds / len(planned) if options.seconds else None
        done, kept, fine = campaign(name, folder, runs, seconds)
        took = time.monotonic() - start
        found = sorted(path.name for path in (folder / "crashes").glob(f"{name}-*"))
        told = ", ".join(found) or ("none" if fine else "the process failed, see above")
        figures = f"{done:>12,}{took:>10.0f}{done / took:>10,.0f}{kept:>8}"
        print(f"{name:<10}{figures}  {told}", flush=True)
        total += done
        well &= fine
    took = time.monotonic() - began
    print(f"{'all':<10}{total:>12,}{took:>10.0f}{total / took:>10,.0f}")
    if not well:
        print(f"what broke a rule, and what was printed: {folder}")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    run_bench(main)
