"""Processes of a grading that are killed, and many gradings in a row: no wrong score, nothing left.

`strike` runs the real command and kills one of its processes at a chosen moment; `judge` says what
may have come of that. `Household` counts what a process that grades holds. Here is a small sample
of both; `bench/faults.py` and `bench/growth.py` do much more of the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest

from grader import kit, problem, session, submission_file
from grader.workers import Launcher, launcher
from tests import kits

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 120.0  # seconds of one grading; more is one that is stuck
GONE_AFTER = 3.0  # seconds until every process of an ended grading has ended too
_PR_SET_CHILD_SUBREAPER = 36

Victim = Literal["nobody", "worker", "zygote", "trusted side"]


# ---- one grading that is struck


@dataclass(frozen=True)
class Blow:
    """Which process gets which signal, and when.

    after: seconds from the start of the command; for a worker from the moment there is the first.
    """

    victim: Victim
    after: float = 0.0
    signal: int = signal.SIGKILL

    def __str__(self) -> str:
        return f"{self.victim} {signal.Signals(self.signal).name} after {self.after:.2f} s"


@dataclass
class Aftermath:
    """What is there after a grading. score: the text of the file, None where there is none.

    first: seconds until there was a worker, None where there was none or nobody looked.
    """

    code: int
    struck: bool
    score: str | None
    processes: list[str]
    files: list[str]
    seconds: float
    stuck: bool
    told: str
    first: float | None

    def document(self) -> dict[str, Any]:
        """The score file as a legal document; fails where it is anything else."""
        assert self.score is not None
        return legal(self.score)


@dataclass
class Place:
    """The folders of a command: where it runs, keeps its caches, and puts temporary files."""

    folder: Path

    def __post_init__(self) -> None:
        for name in ("work", "tmp", "cache", "state"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def environment(self) -> dict[str, str]:
        """The caller's, with these folders in it."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "PYTHON", "GRADER_"))
        }
        return kept | {
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "TMPDIR": str(self.folder / "tmp"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "XDG_STATE_HOME": str(self.folder / "state"),
        }

    def left(self) -> list[str]:
        """Files that a grading should not have left, the score file not among them."""
        found = [*(self.folder / "tmp").iterdir(), *(self.folder / "work").iterdir()]
        return sorted(str(path.relative_to(self.folder)) for path in found if path.name != "score")

    def clear(self) -> None:
        """Removes what `left` tells, so that the next grading is judged alone."""
        import shutil

        for name in self.left():
            path = self.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def legal(text: str) -> dict[str, Any]:
    """A score document, read strictly."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    document: dict[str, Any] = json.loads(text, parse_constant=refuse)
    jsonschema.Draft202012Validator(kits.SCHEMA).validate(document)
    return document


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """Makes orphans among this process' descendants its children, so that none is overlooked.

    And lets what is started be interrupted: a shell's background jobs ignore SIGINT, and so would
    all that they start.
    """
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        prctl(_PR_SET_CHILD_SUBREAPER, 0)


def strike(
    arguments: Sequence[object], blow: Blow, place: Place, luck: random.Random | None = None
) -> Aftermath:
    """Runs `grade run ARGUMENTS --json` and kills one of its processes, if it is there in time.

    To be called while `adopting`. luck: picks one of several workers.
    """
    before = set(children(os.getpid()))
    score = place.folder / "work" / "score"
    score.unlink(missing_ok=True)
    errors = place.folder / "errors"
    began = time.monotonic()
    with errors.open("wb") as written:
        running = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader", *map(str, arguments), "--json", str(score)],
            cwd=place.folder / "work",
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=written,
        )
    struck, stuck, first = False, False, None
    while running.poll() is None:
        now = time.monotonic()
        if now - began > LONGEST:
            stuck = True
            running.kill()
            running.wait()
            break
        watched = blow.victim in ("worker", "nobody") and first is None
        if watched and workers_of(running.pid):
            first = now
        since = first if blow.victim == "worker" else began
        due = since is not None and now - since >= blow.after
        if due and not struck and blow.victim != "nobody":
            struck = _hit(running.pid, blow, luck or random.Random(0))
        time.sleep(0.002)
    seconds = time.monotonic() - began
    return Aftermath(
        code=running.returncode,
        struck=struck,
        score=score.read_text(encoding="utf-8") if score.exists() else None,
        processes=_outlive(before, GONE_AFTER),
        files=place.left(),
        seconds=seconds,
        stuck=stuck,
        told=errors.read_text(encoding="utf-8", errors="replace"),
        first=None if first is None else first - began,
    )


def _hit(grading: int, blow: Blow, luck: random.Random) -> bool:
    """Sends the signal, if the victim is there; never to a process that is not the grading's."""
    if blow.victim == "trusted side":
        os.kill(grading, blow.signal)  # not waited for yet, so the number is still its own
        return True
    parent = grading if blow.victim == "zygote" else zygote_of(grading)
    found = [zygote_of(grading)] if blow.victim == "zygote" else workers_of(grading)
    victims = [pid for pid in found if pid is not None]
    if not victims or parent is None:
        return False
    victim = luck.choice(victims)
    try:
        handle = os.pidfd_open(victim)
    except ProcessLookupError:
        return False
    try:
        if victim not in children(parent):  # the number may have become somebody else's
            return False
        signal.pidfd_send_signal(handle, blow.signal)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def children(pid: int) -> list[int]:
    """The children of a process, those among them that have ended and were not waited for."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def zygote_of(grading: int) -> int | None:
    """The process that forks workers for a grading, or None."""
    for pid in children(grading):
        with contextlib.suppress(OSError):
            if b"\0zygote\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
    return None


def workers_of(grading: int) -> list[int]:
    """The workers of a grading that are running."""
    zygote = zygote_of(grading)
    return [pid for pid in children(zygote) if _runs(pid)] if zygote is not None else []


def _runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()[0] not in ("Z", "X")
    return False


def _outlive(before: set[int], seconds: float) -> list[str]:
    """Descendants that are still there after so long, by their commands; they are ended then."""
    end = time.monotonic() + seconds
    while True:
        found = _descendants(before)
        if not found or time.monotonic() > end:
            break
        time.sleep(0.01)
    told = []
    for pid in found:
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            told.append(command.strip() or f"process {pid}")
    while found:
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)  # ours: a child, or the child of one
        time.sleep(0.01)
        found = _descendants(before)
    return told


def _descendants(but: set[int]) -> list[int]:
    """Living descendants of this process except some children; ended children are waited for."""
    found: list[int] = []
    for child in children(os.getpid()):
        if child in but:
            continue
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(child, os.WNOHANG)[0]:
                continue
        found.append(child)
    for pid in found:  # which grows
        found += children(pid)
    return found


# ---- what may have come of it


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what differs from run to run."""
    kept = {key: value for key, value in document.items() if key not in ("started_at", "seconds")}
    if "checks" in kept:
        kept["checks"] = [{**check, "seconds": 0} for check in kept["checks"]]
    return kept


def judge(truth: dict[str, Any], blow: Blow, after: Aftermath) -> tuple[str, list[str]]:
    """The outcome in words, and every rule that was broken.

    A score file is not there, or whole. It holds the true result; or, where a worker was killed,
    one with fewer points that tells so; or a fault of the kit.
    """
    broken = [f"a process is left: {command}" for command in after.processes]
    broken += [f"a file is left: {name}" for name in after.files]
    if after.stuck:
        return "stuck", [*broken, f"not over after {LONGEST:g} s"]
    by_signal = {-blow.signal} | ({130} if blow.signal == signal.SIGINT else set())
    ended = after.struck and blow.victim == "trusted side" and after.code in by_signal
    if after.score is None:
        if not ended:
            broken.append(f"no score file, and exit code {after.code}: {after.told[-300:]}")
        return "ended, no file", broken
    try:
        document = after.document()
    except Exception as error:
        return "half a file", [*broken, f"the score file is not legal: {error}"[:500]]
    if document["error"] is not None:
        if after.code != 3:
            broken.append(f"a fault of the kit, and exit code {after.code}")
        if not after.struck or blow.victim not in ("worker", "zygote"):
            broken.append(f"a fault of the kit where nothing was killed: {document['error']}")
        return "fault, exit code 3", broken
    if not ended and after.code != (0 if document["passed"] else 1):
        broken.append(f"score {document['score']}, and exit code {after.code}")
    if plain(document) == plain(truth):
        return "true result", broken
    if blow.victim != "worker" or not after.struck:
        return "another result", [*broken, f"another result: {_unlike(truth, document)}"]
    return _with_a_dead_worker(truth, document, broken)


def _with_a_dead_worker(
    truth: dict[str, Any], document: dict[str, Any], broken: list[str]
) -> tuple[str, list[str]]:
    told = [check["message"] or "" for check in document["checks"]]
    told += [document["load_error"]["message"]] if document["load_error"] else []
    is_told = any("SIGKILL" in message or "your code crashed" in message for message in told)
    for was, now in zip(truth["checks"], document["checks"], strict=True):
        if now["earned"] > was["earned"]:
            broken.append(f"{now['id']}: {now['earned']} points in place of {was['earned']}")
        if now["earned"] < was["earned"] and now["outcome"] not in ("error", "not_run"):
            broken.append(f"{now['id']}: {now['outcome']}, {now['message']}")
    if document["score"] > truth["score"]:
        broken.append(f"score {document['score']} in place of {truth['score']}")
    if document["verdict"] not in (truth["verdict"], "incorrect", "not_run"):
        broken.append(f"verdict {document['verdict']} in place of {truth['verdict']}")
    if document["likely_cause"] not in (truth["likely_cause"], None):
        broken.append(f"a cause that is none: {document['likely_cause']}")
    if is_told:
        fewer = document["score"] < truth["score"]
        return ("told, fewer points" if fewer else "told, as many points"), broken
    same = plain(document) | {"likely_cause": None, "output": None}
    if same == plain(truth) | {"likely_cause": None, "output": None}:
        return "true result without its cause", broken
    marks = [
        [(check["id"], check["earned"], check["outcome"]) for check in each["checks"]]
        for each in (truth, document)
    ]
    if marks[0] == marks[1]:  # what fails anyway tells its first wrong case, not a later one
        return "true marks, fewer cases", broken
    return "another result", [*broken, f"nothing is told: {_unlike(truth, document)}"]


def _unlike(truth: dict[str, Any], document: dict[str, Any]) -> str:
    """The parts in which two documents differ."""
    was, now = plain(truth), plain(document)
    parts = [f"{key}: {was[key]!r:.100} → {now[key]!r:.100}" for key in was
             if key != "checks" and was[key] != now.get(key)]  # fmt: skip
    for a, b in zip(was["checks"], now.get("checks", []), strict=False):
        if a != b:
            parts.append(f"{a['id']}: {a['outcome']} {a['message']!r:.100} → "
                         f"{b['outcome']} {b['message']!r:.100}")  # fmt: skip
    return "; ".join(parts)[:1500]


SLOW = "import time\n\n\ndef plus_one(number):\n    time.sleep(0.3)\n    return number + 1\n"
WRONG = "def plus_one(number):\n    return number + 1 if number != 13 else 13\n"

BLOWS = [
    ("right", Blow("trusted side", 0.05, signal.SIGKILL)),
    ("right", Blow("trusted side", 0.4, signal.SIGINT)),
    ("slow", Blow("trusted side", 1.6, signal.SIGTERM)),
    ("wrong", Blow("zygote", 0.0)),
    ("right", Blow("zygote", 0.6)),
    ("wrong", Blow("worker", 0.0)),
    ("right", Blow("worker", 0.02)),
    ("slow", Blow("worker", 0.1)),
    ("slow", Blow("worker", 0.7)),
]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed_processes_make_no_wrong_score(tmp_path: Path) -> None:
    """Whoever is killed, whenever: the true result, fewer points with the reason, or a fault."""
    tiny = kits.write_kit(tmp_path / "kit")
    place = Place(tmp_path / "place")
    arguments: dict[str, list[object]] = {}
    for name, text in (("right", kits.RIGHT), ("wrong", WRONG), ("slow", SLOW)):
        file = tmp_path / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        arguments[name] = ["--kit", tiny.root, "run", file, "--problem", tiny.slug]
    broken, outcomes = [], []
    with adopting():
        truths = {
            name: strike(words, Blow("nobody"), place).document()
            for name, words in arguments.items()
        }
        for name, blow in BLOWS:
            after = strike(arguments[name], blow, place)
            outcome, rules = judge(truths[name], blow, after)
            outcomes.append(outcome)
            broken += [f"{name}, {blow}: {rule}" for rule in rules]
            place.clear()
        after = strike(arguments["right"], Blow("nobody"), place)
        broken += judge(truths["right"], Blow("nobody"), after)[1]
    assert {name: truth["score"] for name, truth in truths.items()} == {
        "right": 7, "wrong": 5, "slow": 7
    }  # fmt: skip
    assert not broken
    assert {"ended, no file", "fault, exit code 3", "told, fewer points"} <= {*outcomes}


# ---- many gradings in one process


@dataclass
class Household:
    """What this process and the zygote of its launcher hold at one moment."""

    zygote: int
    trusted_rss: int = field(init=False)
    zygote_rss: int = field(init=False)
    counts: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        gc.collect()
        with contextlib.suppress(AttributeError):  # not every C library keeps freed memory
            ctypes.CDLL(None).malloc_trim(0)
        own = os.getpid()
        self.trusted_rss, self.zygote_rss = _resident(own), _resident(self.zygote)
        self.counts = {
            "descriptors": len(_open_files(own)),
            "memfds": sum(name.startswith("/memfd:") for name in _open_files(own)),
            "sockets": sum(name.startswith("socket:") for name in _open_files(own)),
            "zygote's descriptors": len(_open_files(self.zygote)),
            "threads": len(list(Path(f"/proc/{own}/task").iterdir())),
            "zygote's threads": len(list(Path(f"/proc/{self.zygote}/task").iterdir())),
            "processes": len(children(own)) + len(children(self.zygote)),
            "temporary files": len(list(_temporary().iterdir())),
        }

    def grown(self, since: Household, most: int) -> list[str]:
        """What is more than it was: any count, or memory by more than `most` bytes."""
        told = [
            f"{name}: {since.counts[name]} → {count}"
            for name, count in self.counts.items()
            if count > since.counts[name]
        ]
        for name, was, now in (
            ("trusted side", since.trusted_rss, self.trusted_rss),
            ("zygote", since.zygote_rss, self.zygote_rss),
        ):
            if now - was > most:
                told.append(f"memory of the {name}: {was >> 10} → {now >> 10} KiB")
        return told


def _temporary() -> Path:
    import tempfile

    return Path(tempfile.gettempdir())


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _open_files(pid: int) -> list[str]:
    """Where the descriptors of a process lead; none where it does not let itself be looked at."""
    found = []
    try:
        for path in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found.append(str(path.readlink()))
    except PermissionError:
        return []
    return found


# Answers of the tiny kit, and what they earn of its 7 points.
ANSWERS = {
    "right": (kits.RIGHT, 7),
    "wrong": (WRONG, 5),
    "dies": ("import os\n\n\ndef plus_one(number):\n    os._exit(3)\n", 0),
    "prints": (
        "def plus_one(number):\n    print('line ' * 9000)\n    return number + 1\n", 7),
    "loops": (
        "def plus_one(number):\n    while number == 13:\n        pass\n    return number + 1\n", 5),
    "raises": ("def plus_one(number):\n    return {}[number]\n", 0),
    "cannot be read": ("def plus_one(number):\n    return (\n", 0),
    "keeps much": (
        "kept = bytearray(200 << 20)\n\n\ndef plus_one(number):\n    return number + 1\n", 7),
    "answers much": ("def plus_one(number):\n    return [[0] * 1000] * 100\n", 0),
}  # fmt: skip
# The others never wait for their limits, however busy the machine is.
PATIENT = (
    kits.TOML.replace("call = 1", "call = 30").replace("load = 3", "load = 30")
    .replace("submission = 10", "submission = 90")
)  # fmt: skip
IMPATIENT = PATIENT.replace("call = 30", "call = 0.3")


class Mix:
    """Gradings of all kinds on one launcher, every `real`-th of a real problem."""

    def __init__(self, folder: Path, started: Launcher, real: int = 20) -> None:
        self._started = started
        self.real = real
        self._tiny = kits.write_kit(folder / "kit", toml=PATIENT)
        self._short = kits.write_kit(folder / "short", toml=IMPATIENT)
        self._files = {}
        for number, (name, (text, _)) in enumerate(ANSWERS.items()):
            self._files[name] = folder / f"answer_{number}.py"
            self._files[name].write_text(text, encoding="utf-8")
        self.kinds: Counter[str] = Counter()

    def grade(self, number: int) -> None:
        """The grading of this number; fails where it does not earn what it must."""
        if number % self.real == self.real - 1:
            self.grade_a_real_one(number // self.real)
            return
        name = list(ANSWERS)[number % len(ANSWERS)]
        if name == "loops" and number % 2:
            name = "right"  # it takes ten times as long as the others
        tiny = self._short if name == "loops" else self._tiny
        report = tiny.grade(self._files[name], self._started)
        self.kinds[name] += 1
        if name == "loops":  # its other calls may take longer than the limit as well
            assert report.score <= ANSWERS[name][1], report
        else:
            assert report.score == ANSWERS[name][1], (name, report)

    def grade_a_real_one(self, number: int) -> None:
        """One of four files of the real problems, by turns; hidden checks for every other four."""
        choices = [
            ("verify", ROOT / "solutions/verify/solution.py", True),
            ("step", ROOT / "solutions/step/stream/extra_draw.py", False),
            ("verify", ROOT / "templates/verify.py", False),
            ("step", ROOT / "solutions/step/solution.py", True),
        ]
        slug, file, passes = choices[number % len(choices)]
        if not file.is_file():  # a learner's kit
            slug, file, passes = "verify", ROOT / "templates/verify.py", False
        found = kit.find(ROOT)
        report = session.grade(
            found, problem.load(found, slug), submission_file.read(file), library="torch",
            seed=number, started=self._started, hidden=number % 8 < 4,
        )  # fmt: skip
        kits.validate(report)
        self.kinds[f"{slug}/{file.stem}"] += 1
        assert report.passed is passes, report


@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_sixty_gradings_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many descriptors, threads, processes and files after 60 gradings as before, and no more
    memory than one of them may leave for the next."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    others = {process.pid for process in kits.zygotes()}
    started = launcher("fork")
    try:
        [zygote] = [process.pid for process in kits.zygotes() if process.pid not in others]
        mix = Mix(tmp_path, started, real=10**9)
        for number in range(12):
            mix.grade(number)
        before = Household(zygote)
        for number in range(60):
            mix.grade(number)
        grown = Household(zygote).grown(before, 8 << 20)
    finally:
        started.close()
    assert not grown
    assert not list(temporary.iterdir())
    assert len(mix.kinds) == len(ANSWERS)
