"""Hostile submissions earn nothing, learn nothing and harm nobody, at every level this machine has.

Each file of `hostile/` is one attack on one of the numbered classes of the threat model, and says
what it comes to. At `locked` and `no-open` none gets what it wants. At `process` most do, which is
asked for as well: an attack that fails without locks would prove nothing about them.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import platform
import pty
import py_compile
import re
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from grader import isolation, kit, problem, render, session, submission_file
from grader.clean import clean
from grader.faults import UsageError
from grader.report import Report, to_json
from grader.worker.locks import Locks
from grader.workers import Forked, Fresh, Launcher
from tests import hostile_places, kits
from tests.hostile_places import NOBODY, ROOT, Places, readable_python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the locks are Linux's")

# Time enough for a right file, and little for one that waits.
TOML = kits.TOML.replace("call = 1", "call = 0.7").replace("submission = 10", "submission = 6")
DEVICE = '''\
import pytest

from grader.expect import exactly


@pytest.mark.points(4, group="values")
def test_here(submission):
    """Two follows one."""
    assert submission(1) == exactly(2)


@pytest.mark.points(3, group="device")
def test_there(submission, accelerator):
    """Five follows three, on a device."""
    assert submission(3) == exactly(5)
'''

# The submission's own time of the real problems, and what a busy machine may add.
LONGEST = 40
ATTACKS = {attack.name: attack for attack in hostile_places.attacks()}


def offered() -> Iterator[str]:
    """The levels to be had here."""
    for level in isolation.LEVELS:
        try:
            isolation.of_level(level)
        except UsageError:
            continue
        yield level


LEVELS = list(offered())


def locks_of(level: str) -> Locks:
    """The locks of a level; of `process` the fewest, to see that nothing else stops an attack."""
    return Locks() if level == "process" else isolation.of_level(level)  # type: ignore[arg-type]


@dataclass
class Bench:
    """One level's launcher, the kits, and what a right file is told where nobody came before it."""

    level: str
    started: Launcher
    kit: kits.TinyKit
    devices: kits.TinyKit
    places: Places
    alone: dict[str, Any]

    def grade(self, file: Path, slug: str) -> Report:
        """The report on a file."""
        if slug in ("next", "device"):
            return (self.kit if slug == "next" else self.devices).grade(file, self.started)
        real = kit.find(ROOT)
        report = session.grade(
            real,
            problem.load(real, slug),
            submission_file.read(file),
            library="torch",
            started=self.started,
            hidden=False,
        )
        kits.validate(report)
        return report

    def honest(self) -> dict[str, Any]:
        """What the neighbour's file, which is right, is told now."""
        return facts(self.kit.grade(self.places.neighbour, self.started))


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The proofs of references are kept in a folder of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module", name="places")
def _places() -> Iterator[Places]:
    made = Places()
    yield made
    made.close()


@pytest.fixture(scope="module", name="bench", params=LEVELS)
def _bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, places: Places
) -> Iterator[Bench]:
    tiny = kits.write_kit(tmp_path_factory.mktemp("kit"), toml=TOML)
    toml = TOML.replace("submission = 6", "submission = 1.5")
    devices = kits.write_kit(tmp_path_factory.mktemp("devices"), checks=DEVICE, toml=toml)
    reports = []
    for _ in range(2):
        started = Forked(locks_of(request.param))
        reports.append(facts(tiny.grade(places.neighbour, started)))
        if len(reports) == 1:
            started.close()
    assert reports[0] == reports[1]
    assert reports[0]["score"] == 7
    yield Bench(request.param, started, tiny, devices, places, reports[0])
    started.close()


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(bench, name):
    """The attack earns what its answers are worth and nothing else comes of it, neither for
    whoever is near nor for the right file that is graded next."""
    attack = ATTACKS[name]
    if attack.machine not in (None, platform.machine()):
        pytest.skip(f"its system calls have these numbers on {attack.machine} only")
    if attack.needs_reference and not attack.reference.exists():
        pytest.skip("it spoils a right answer, which this kit does not have")
    expected = attack.expected(bench.level)
    if expected is None:
        pytest.skip("nothing is promised of this class at level process")
    places = bench.places
    file = places.hand_in(attack)
    kit_before = listing(bench.kit.root)
    places.watch()
    began = time.monotonic()

    report = bench.grade(file, attack.problem)
    seconds = time.monotonic() - began
    left, changes = left_running(), places.changes()
    if changes:
        places.settle()
    file.unlink()
    after = bench.honest()

    loot = loot_in(report)
    if expected.loot == "no":
        assert loot == []
        assert changes == []
        assert places.secret_text not in to_json(report)
    if expected.loot == "yes" or (expected.loot == "as root" and os.geteuid() == 0):
        assert loot or changes, "without locks this attack has to succeed, or it proves nothing"
    assert seconds < LONGEST
    assert left == []
    assert listing(bench.kit.root) == kit_before
    assert_earns(report, expected.earns)
    assert expected.hears in told(report)
    assert_is_clean(report)
    assert after == bench.alone


NAMES = {
    "escapes": b"\x1b[2J\x1b]0;owned\x07.py",
    "lines": b"a\nVerdict:      correct\n::error::owned\n.py",
    "command": b"::error::owned.py",
    "directions": "\u202eyp.\u2066next".encode(),
    "no text": b"\xff\xfe\xc3.py",
    "markup": b"<script>alert(1)<!-- [bold]x[\\bold] `$(touch x)`.py",
    "option": b"--json=x.py",
    "long": b"x" * 240 + b".py",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_file_steers_nothing(name, bench):
    """A learner chooses the name of a file, and it is shown like all other text of theirs."""
    file = Path(os.fsdecode(bytes(bench.places.handed_in) + b"/" + NAMES[name]))
    file.write_text(kits.RIGHT, encoding="utf-8")

    report = bench.grade(file, "next")

    file.unlink()
    assert report.score == 7
    assert_is_clean(report, again=f"grade run {file}")


# ---- what is no file of Python: class 74, and 52 to 53

DEEP = {
    "brackets": "x = " + "(" * 5000 + ")" * 5000,
    "lists": "x = " + "[" * 150 + "]" * 150,
    "signs": "x = " + "-" * 50_000 + "1",
    "sums": "x = " + "+".join(["1"] * 3000),
    "attributes": "x = None and a" + ".a" * 3000,
    "calls": "x = None and a" + "()" * 3000,
    "lambdas": "x = " + "lambda: " * 3000 + "1",
    "conditions": "x = " + "1 if 1 else " * 3000 + "1",
    "blocks": "".join(" " * i + "if 1:\n" for i in range(99)) + " " * 99 + "pass",
    "many elifs": "if 0:\n    pass\n" + "elif 0:\n    pass\n" * 3000,
    "an endless string": "x = '''" + "x" * 200_000,
    "a long name": "x" * 200_000 + " = 1",
    "many lines": "\n" * 200_000,
    "escapes": "x = '\\N{GREEK SMALL LETTER OMICRON}\\ud800\\x00'",
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_odd_source_is_judged_like_any_other(bench, name, tmp_path):
    """However deep or long a file is, it loads or says why not, and accuses nobody of anything."""
    file = tmp_path / "answer.py"
    file.write_text(f"{DEEP[name]}\n\n{kits.RIGHT}", encoding="utf-8")

    report = bench.grade(file, "next")

    if report.load_error is None:
        assert report.score == 7, told(report)
    else:
        assert report.load_error.kind in ("syntax_error", "timeout", "memory", "exception")
    assert "changed something" not in told(report)
    assert_is_clean(report)
    assert bench.honest() == bench.alone


UNREADABLE = {
    "NUL": b"x = 1\x00\n",
    "UTF-16": "x = 1\n".encode("utf-16"),
    "Latin 1": b"x = '\xe9'\n",
    "half a character": b"x = '\xf0\x9f'\n",
    "a surrogate": b"x = '\xed\xa0\x80'\n",
    "a zip file": b"PK\x03\x04\x14\x00\x00\x00" + bytes(60),
    "100 megabytes": None,
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_text_is_refused_before_anything_runs(name, tmp_path):
    """A file that is too large or no UTF-8 is refused with a reason. An archive is one of these:
    nothing is unpacked, since handing in several files is not offered."""
    file = tmp_path / "answer.py"
    data = UNREADABLE[name]
    file.write_bytes(data or b"x = 1\n")
    if data is None:
        os.truncate(file, 100 << 20)

    with pytest.raises(UsageError, match=r"UTF-8|NUL|bytes"):
        submission_file.read(file)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("text", ["\ufeff{}", "\x0c{}", "# coding: rot13\n{}", "#!x\r\n{}"])
def test_marks_of_editors_are_no_matter(bench, text, tmp_path):
    """A byte order mark, a form feed, a coding line or other line ends leave a right file right."""
    file = tmp_path / "answer.py"
    file.write_bytes(text.format(kits.RIGHT).replace("\n", "\r\n").encode())

    assert bench.grade(file, "next").score == 7


@pytest.mark.parametrize("kind", ["outside", "chain", "fifo", "device", "folder", "dangling"])
def test_a_file_that_is_something_else_is_not_read(kind, tmp_path):
    """What a learner hands in is read if it is a file of their own folder: no link that leads out,
    no pipe, no device, no folder; and nothing of what it leads to is told."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the answers", encoding="utf-8")
    folder = tmp_path / "handed_in"
    folder.mkdir()
    file = folder / "next.py"
    targets = {"outside": secret, "device": "/dev/zero", "dangling": folder / "nothing"}
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "chain":
        (folder / "more.py").symlink_to("../secret.txt")
        file.symlink_to("more.py")
    else:
        file.symlink_to(targets[kind])

    with pytest.raises(UsageError) as error:
        submission_file.read(file)
    assert "the answers" not in str(error.value)


def test_a_link_within_the_folder_is_read(tmp_path):
    """A link to another file beside it is the learner's own affair."""
    (tmp_path / "mine.py").write_text(kits.RIGHT, encoding="utf-8")
    (tmp_path / "next.py").symlink_to("mine.py")

    assert submission_file.read(tmp_path / "next.py").text == kits.RIGHT


# ---- hidden checks: classes 54, 58 to 60

TELLS = {
    "message": "raise ValueError(f'input {number}')",
    "name": "raise type(f'Input{number}', (Exception,), {})",
    "exit message": "raise SystemExit(f'input {number}')",
    "forged failure": "forge({'i': 0, 'failed': {'kind': 'memory', 'message': f'had {number}'}})",
    "forged lengths": "forge(None, number)",
    "builtin name": "raise [EOFError, OSError, BufferError, LookupError, EOFError][number % 5]",
    "exit code": "__import__('os')._exit(number % 200 + 10)",
    "signal": "__import__('os').kill(__import__('os').getpid(), 34 + number % 30)",
    "type": "return type(f'Input{number}', (), {})()",
    "value": "return number",
    "length": "return [0] * number",
    "output": "print('input', number)\n    return 0",
    "error output": "__import__('sys').stderr.write(f'input {number}')\n    return 0",
    "output past python": "__import__('os').write(1, b'input %d' % number)\n    return 0",
}


FORGE = """\
import json
import struct
import sys


def forge(header, size=0):
    caller = sys._getframe(2).f_locals
    text = json.dumps(header).encode()
    lengths = (len(text), 0) if header else (2**31 + size, 2**31)
    caller["sock"].sendall(struct.pack("<II16s", *lengths, caller["nonce"]) + text)


"""


@pytest.mark.parametrize("way", TELLS)
def test_a_hidden_check_tells_nothing_of_its_inputs(way, bench, tmp_path):
    """Whatever a submission does with the inputs of a hidden check, the report is the same for
    every seed: it says what kind of thing went wrong, and of the inputs nothing. (The name of an
    exception of Python's own is such a kind.)"""
    if bench.level == "process" or bench.level != LEVELS[0]:
        pytest.skip("asked at the best level of this machine, and never at level process")
    tiny = kits.write_kit(
        tmp_path / "kit",
        hidden=kits.HIDDEN,
        solution=kits.RIGHT,
        toml=TOML.replace("hidden = 0", "hidden = 3"),
    )
    file = tmp_path / "answer.py"
    public = "    if number in (1, 2, 13):\n        return number + 1\n"
    file.write_text(f"{FORGE}def plus_one(number):\n{public}    {TELLS[way]}\n", encoding="utf-8")

    reports = [tiny.grade(file, bench.started, seed=seed) for seed in range(3)]

    documents = [facts(report) | {"seed": None} for report in reports]
    assert documents[0]["score"] == 7
    assert documents[0] == documents[1] == documents[2]


def test_knowing_the_public_checks_is_not_enough(bench, tmp_path):
    """A file that knows the answers of all public checks earns no point of a hidden one."""
    if bench.level == "process":
        pytest.skip("hidden checks are not run at level process")
    tiny = kits.write_kit(
        tmp_path / "kit",
        hidden=kits.HIDDEN,
        solution=kits.RIGHT,
        toml=TOML.replace("hidden = 0", "hidden = 3"),
    )
    file = bench.places.hand_in(ATTACKS["54_knows_the_public_checks"])

    report = tiny.grade(file, bench.started)

    file.unlink()
    assert (report.score, report.max_score) == (7, 10)


# ---- the command itself, as root and as somebody else

BESIDE = (
    "conftest.py", "torch.py", "numpy.py", "json.py", "pytest.py", "grader/__init__.py",
    "problems/__init__.py", "sitecustomize.py", "usercustomize.py", "evil.py", "struct.py",
)  # fmt: skip
SETTINGS = ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", ".pytest.ini")


@pytest.mark.parametrize("answer", ["number + 1", "0"])
def test_nothing_beside_the_file_takes_part(answer, grade, tmp_path):
    """Test files, settings, modules, bytecode and commands that lie beside a submission, and
    orders for pytest in the environment, change nothing of its report and are never run."""
    tiny = kits.write_kit(tmp_path / "kit")
    folder = grade.folder
    ran = tmp_path / "ran"
    code = f"import pathlib\npathlib.Path({str(ran)!r}).touch()\n"
    hooks = "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n"
    for name in BESIDE:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(code + hooks, encoding="utf-8")
    for name in SETTINGS:
        section = {"pyproject.toml": "tool.pytest.ini_options", "setup.cfg": "tool:pytest"}
        text = f'[{section.get(name, "pytest")}]\naddopts = "-p evil --co"\n'
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "evil.pth").write_text(f"import pathlib; pathlib.Path({str(ran)!r}).touch()\n")
    (folder / "__pycache__").mkdir()
    planted = folder / "__pycache__" / f"answer.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(folder / "evil.py"), cfile=str(planted))
    for name in ("python", "python3", "grade", "cat"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (folder / name).chmod(0o755)
    (folder / "answer.py").write_text(f"def plus_one(number):\n    return {answer}\n")

    done = grade(
        "--kit", tiny.root, "run", "answer.py", "--problem", tiny.slug, "--json", "-",
        PYTEST_ADDOPTS="-p evil --co", PYTEST_PLUGINS="evil", PYTHONSTARTUP=str(folder / "evil.py"),
        PATH=f"{folder}:{os.environ['PATH']}",
    )  # fmt: skip

    score = json.loads(done.stdout)
    assert not ran.exists()
    assert score["score"] == (7 if answer == "number + 1" else 0), done.stderr
    assert done.returncode == (0 if score["passed"] else 1)


COMMANDS = (
    "01_exit_code_of_a_fault_at_import", "16_writes_the_score", "50_reads_a_secret",
    "56_leaves_a_note", "57_udp", "67_forks", "71_kills", "73_commands_of_ci",
)  # fmt: skip


@dataclass(frozen=True)
class Somebody:
    """Who runs the command: an interpreter they can read, and a user (None: whoever tests)."""

    python: str
    user: int | None
    home: Path

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """`grade` with these arguments."""
        who: dict[str, Any] = {}
        if self.user is not None:
            who = {"user": self.user, "group": self.user, "extra_groups": []}
        places = {f"XDG_{name}_HOME": str(self.home) for name in ("CACHE", "STATE", "CONFIG")}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
        return subprocess.run(
            [self.python, "-P", "-m", "grader", *map(str, arguments)],
            cwd=self.home,
            env={**kept, **places, "HOME": str(self.home), "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            **who,
        )


@pytest.fixture(scope="module", name="somebody", params=["tester", "nobody", "root"])
def _somebody(request: pytest.FixtureRequest) -> Iterator[Somebody]:
    """Whoever runs the tests; where that is root also somebody without rights, and root with a
    Python that everybody can read, so that every worker gets a user of its own."""
    home = Path(tempfile.mkdtemp(prefix="hostile_home_"))
    home.chmod(0o777)
    try:
        if request.param == "tester":
            yield Somebody(sys.executable, None, home)
        elif os.geteuid() != 0:
            pytest.skip("only root can become somebody else, and this is not root")
        else:
            user = NOBODY if request.param == "nobody" else None
            yield Somebody(readable_python(home), user, home)
    finally:
        shutil.rmtree(home)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_withstands_it(name, somebody, places, tmp_path):
    """With `grade run` an attack comes to the same, as root and as an ordinary user: the score
    document says what was earned, and nothing else of it is to be found."""
    attack = ATTACKS[name]
    if attack.machine not in (None, platform.machine()):
        pytest.skip(f"its system calls have these numbers on {attack.machine} only")
    expected = attack.expected("locked")
    tiny = kits.write_kit(somebody.home / f"kit_{name}", toml=kits.TOML)
    file = places.hand_in(attack)
    places.watch()

    done = somebody.run(
        "--kit", tiny.root, "run", file, "--problem", tiny.slug, "--json", "-",
        "--require-isolation",
    )  # fmt: skip

    changes = places.changes()
    file.unlink()
    score = json.loads(done.stdout)
    jsonschema.validate(score, kits.SCHEMA)
    assert changes == []
    assert score["score"] == {"0": 0, "all": 7}[expected.earns], done.stderr
    assert score["isolation"]["level"] in ("locked", "no-open")
    if os.geteuid() == 0 and somebody.python != sys.executable:
        assert ("own user" in score["isolation"]["layers"]) is (somebody.user is None)
    assert done.returncode == (0 if score["passed"] else 1)
    texts = [done.stderr, *strings(score)]
    assert not [text for text in texts if re.search(r'(?<!")LOOT', text)]
    assert not [text for text in texts if places.secret_text in text]
    assert done.stderr.replace("\n", "").isprintable()
    assert not [row for row in done.stderr.splitlines() if row.lstrip().startswith("::")]


def test_nothing_is_typed_into_the_terminal(places, tmp_path):
    """A submission that is graded on a terminal cannot type there what the shell would run."""
    attack = ATTACKS["71_types_into_a_terminal"]
    tiny = kits.write_kit(tmp_path / "kit")
    file = places.hand_in(attack)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-P", "-m", "grader", "--kit", tiny.root, "run", file]
    grading = subprocess.Popen(
        [*command, "--problem", tiny.slug],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0))[0],
    )
    screen = b""
    while grading.poll() is None:
        if select.select([ours], [], [], 0.1)[0]:
            screen += os.read(ours, 1 << 16)
    waiting = fcntl.ioctl(theirs, termios.FIONREAD, b"\0" * 4)
    os.close(theirs)
    os.close(ours)
    file.unlink()

    assert waiting == b"\0" * 4
    assert b"refused" in screen
    assert b"LOOT" not in screen.replace(b'"LOOT', b"")


@pytest.mark.parametrize("name", ["50_reads_a_secret", "67_forks", "71_kills"])
def test_new_interpreters_are_locked_as_well(name, places, tmp_path):
    """A worker that is a new interpreter and not a fork has the same locks."""
    if not isolation.of_level().seccomp:
        pytest.skip("this machine has no locks")
    tiny = kits.write_kit(tmp_path / "kit")
    file = places.hand_in(ATTACKS[name])
    places.watch()
    started = Fresh()

    report = tiny.grade(file, started)

    started.close()
    assert loot_in(report) == []
    assert places.changes() == []
    file.unlink()
    assert report.score == 7
    assert "refused" in report.output.text


# ---- what reports are held against


def assert_earns(report: Report, earns: str) -> None:
    """Fails unless the score is what it should be, and verdict and score say the same."""
    assert report.passed == (report.verdict == "correct")
    assert report.max_score == sum(check.points for check in report.checks if not check.extra)
    scores = {"0": {0}, "all": {report.max_score}}.get(earns, set(range(report.max_score)))
    if earns != "any":
        assert report.score in scores, told(report)


def told(report: Report) -> str:
    """Everything a learner is told in words."""
    texts = [report.load_error.message if report.load_error else ""]
    texts += [check.message or "" for check in report.checks]
    return "\n".join([*texts, report.output.text])


def loot_in(report: Report) -> list[str]:
    """What an attack says it got. Its own source, which messages quote, has quotes before it."""
    return re.findall(r'(?<!")LOOT.*', "\n".join(strings(report.as_dict())))


def strings(value: Any) -> Iterator[str]:
    """Every string in a document, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def assert_is_clean(report: Report, again: str = "grade run x.py") -> None:
    """Fails where text of the submission could steer a terminal, a CI runner or a reader."""
    document = to_json(report)
    assert document.isascii()
    assert json.loads(document) == json.loads(json.dumps(report.as_dict()))
    for text in strings(report.as_dict()):
        assert text == clean(text, limit=1 << 20), repr(text)
    lines = render.screen(report, again=again, marks=render.WORDS)
    plain = render.plain(lines)
    texts = [plain]
    if report.output.text.strip() or report.load_error:  # else the lines are the same
        console = Console(file=io.StringIO(), width=100, color_system=None, markup=False)
        console.print(render.styled(lines))
        texts.append(console.file.getvalue())
    for text in texts:
        assert text.replace("\n", "").isprintable(), repr(text)
        rows = text.splitlines()
        for word, found in (("Score:", f"{report.score} of {report.max_score}"), ("Verdict:", "")):
            [row] = [row for row in rows if row.startswith(word)]
            assert found in row
        assert not [row for row in rows if row.lstrip().startswith("::")] or text is not plain
        assert not re.search(r"##[\w.]*\[", plain)


def listing(folder: Path) -> dict[str, Any]:
    """What lies in a folder, and when it was last changed."""
    return hostile_places.listing(folder)


def left_running() -> list[kits.Process]:
    """Every process that a worker of this test has left behind."""
    table = kits.processes()
    own = os.getpid()
    zygotes = {p.pid for p in table if p.parent == own and "worker zygote " in p.command}
    return [p for p in table if p.pid not in zygotes and {p.session, p.parent} & zygotes]


def facts(report: Report) -> dict[str, Any]:
    """A report without its times."""
    document = report.as_dict()
    for name in ("started_at", "seconds"):
        del document[name]
    for check in document["checks"]:
        del check["seconds"]
    return document
