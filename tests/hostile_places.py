"""What a hostile submission may go for, laid out where it can be reached, and whether it was.

Everything is open to every user: what keeps a submission from it are the locks, and nothing else.
"""

from __future__ import annotations

import ast
import gc
import os
import re
import resource
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests import kits

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(__file__).parent / "hostile"
SHARED = ("/tmp", "/dev/shm", "/var/tmp")
_REFERENCE = "right = None  # here stands the reference, as `right`\n"
NOBODY = 65534  # a user that owns nothing
LEAVES_MARKS = "hostile_mark_"

# Read from a file's docstring: one line each, and one for a level where something else is expected.
_LINE = re.compile(r"^(problem|earns|hears|machine|locked|no-open|process): ?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Expected:
    """What one attack comes to at one level.

    earns: "0", "all", "less" or "any". hears: part of what the learner is told. loot: whether the
    level lets it have what it wants: "no", "may", "yes", or "as root" for whoever is root.
    """

    earns: str
    hears: str
    loot: str = "no"


@dataclass(frozen=True)
class Attack:
    """One file of `hostile/`: its text, the problem it is handed in for, and what is expected."""

    name: str
    text: str

    @cached_property
    def _said(self) -> dict[str, str]:
        return dict(_LINE.findall(ast.get_docstring(ast.parse(self.text)) or ""))

    @property
    def problem(self) -> str:
        return self._said["problem"]

    @property
    def machine(self) -> str | None:
        """The only processor its system calls have these numbers on; None where any will do."""
        return self._said.get("machine")

    def expected(self, level: str) -> Expected | None:
        """What is expected at a level; None where the file does not say, which `process` may."""
        expected = Expected(self._said["earns"], self._said.get("hears", ""))
        told = self._said.get(level)
        if told is None:
            return None if level == "process" else expected
        for part in told.split(" | "):
            if part in ("loot", "may loot", "loot as root"):
                loot = {"loot": "yes", "may loot": "may", "loot as root": "as root"}[part]
                expected = replace(expected, loot=loot, hears="")
            elif part.startswith(("earns ", "hears ")):
                expected = replace(expected, **{part[:5]: part[6:]})
            else:
                assert part == "same", f"{self.name}: {level}: {part}"
        return expected

    def aimed_at(self, targets: dict[str, Any]) -> str:
        """The text with the things to attack in it, and the reference where it asks for that."""
        assert self.text.count("\nTARGETS = {}\n") == 1, self.name
        text = self.text.replace("\nTARGETS = {}\n", f"\nTARGETS = {targets!r}\n")
        if not self.needs_reference:
            return text
        reference = self.reference.read_text("utf-8")
        return text.replace(_REFERENCE, f"{reference}\nright = speculative_decode_step\n")

    @property
    def needs_reference(self) -> bool:
        """Whether the attack spoils a right answer, which only an instructor's kit has."""
        return _REFERENCE in self.text

    @property
    def reference(self) -> Path:
        """The solution of its problem."""
        return ROOT / "solutions" / self.problem / "solution.py"


def attacks() -> list[Attack]:
    """Every file of `hostile/`, by name."""
    return [Attack(path.stem, path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.py"))]


class Places:
    """A folder that every user can write to, listeners, and a process that does nothing."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="hostile_"))
        self.folder = self.root / "folder"
        self.handed_in = self.root / "handed_in"
        for folder in (self.root, self.folder, self.handed_in):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)
        self.secret_text = secrets.token_hex(16)
        self.secret = self._file(self.root / "secret.txt", self.secret_text)
        self.neighbour = self._file(
            self.handed_in / "neighbour.py",
            f"# neighbour_of_{secrets.token_hex(4)}\n" * 200 + kits.RIGHT,
        )
        self.score = self.root / "score.json"
        self.mark = LEAVES_MARKS + secrets.token_hex(8)
        self._refill()
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._abstract = socket.socket(socket.AF_UNIX)
        self._abstract.bind(f"\0{self.mark}")
        self._abstract.listen()
        for listener in (self._tcp, self._udp, self._abstract):
            listener.setblocking(False)
        self._bystander = _sleeper()
        self._before = self._state()

    @staticmethod
    def _file(path: Path, text: str) -> Path:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o666)
        return path

    def _refill(self) -> None:
        self._file(self.folder / "kept.txt", "this stays as it is")

    def targets(self) -> dict[str, Any]:
        """What the attack is told."""
        return {
            "secret": str(self.secret),
            "folder": str(self.folder),
            "tcp": self._tcp.getsockname()[1],
            "udp": self._udp.getsockname()[1],
            "abstract": self.mark,
            "mark": self.mark,
            "pid": self._bystander.pid,
            "grader": os.getpid(),
            "score": str(self.score),
            "neighbour": str(self.neighbour),
            "reference": str(ROOT / "solutions/verify/solution.py"),
        }

    def hand_in(self, attack: Attack) -> Path:
        """The attack as a file beside the neighbour's."""
        return self._file(self.handed_in / f"{attack.name}.py", attack.aimed_at(self.targets()))

    def watch(self) -> None:
        """Takes what is there now for what has to be there afterwards."""
        self._before = self._state()

    def changes(self) -> list[str]:
        """What is not as it was when `watch` was called, in words."""
        now = self._state()
        if now["descriptors"] != self._before["descriptors"]:
            gc.collect()  # one that only waits to be collected is not left behind
            now["descriptors"] = _descriptors()
        found = [f"{name}: {old} became {now[name]}" for name, old in self._before.items()
                 if now[name] != old]  # fmt: skip
        for name, listener in (("TCP", self._tcp), ("abstract", self._abstract)):
            try:
                listener.accept()[0].close()
                found.append(f"{name}: somebody connected")
            except BlockingIOError:
                pass
        try:
            found.append(f"UDP: {self._udp.recv(100)!r}")
        except BlockingIOError:
            pass
        return found

    def _state(self) -> dict[str, Any]:
        if self._bystander.poll() is None:
            pid = self._bystander.pid
            bystander: Any = (
                os.getpriority(os.PRIO_PROCESS, pid),
                resource.prlimit(pid, resource.RLIMIT_NOFILE),
                os.sched_getaffinity(pid),
                os.sched_getscheduler(pid),
            )
        else:
            bystander = "dead"
        return {
            "folder": listing(self.folder),
            "around": sorted(path.name for path in self.root.iterdir()),
            "secret": self.secret.read_bytes(),
            "neighbour": self.neighbour.read_bytes(),
            "score": os.path.lexists(self.score),
            "problems": {name: listing(ROOT / name) for name in ("problems", "templates")},
            "solutions": listing(ROOT / "solutions"),
            "marks": [
                f"{folder}/{name}"
                for folder in SHARED
                for name in _names(folder)
                if self.mark in name
            ],
            "bystander": bystander,
            "descriptors": _descriptors(),
            "threads": (threading.active_count(), len(_names("/proc/self/task"))),
            "here": (Path.cwd(), dict(os.environ)),
        }

    def settle(self) -> None:
        """Puts everything back, for an attack that a level does not stop."""
        for folder in SHARED:
            for path in Path(folder).glob(f"*{self.mark}*"):
                path.unlink()
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self._refill()
        self.score.unlink(missing_ok=True)
        self._bystander.kill()
        self._bystander.wait()
        self._bystander = _sleeper()
        self.changes()

    def close(self) -> None:
        """Ends and removes everything."""
        self.settle()
        for listener in (self._tcp, self._udp, self._abstract):
            listener.close()
        self._bystander.kill()
        self._bystander.wait()
        shutil.rmtree(self.root)


def _sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"], start_new_session=True)


def _descriptors() -> int:
    return len(_names("/proc/self/fd"))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are enough, and this is asked often
    except FileNotFoundError:
        return []


def listing(folder: Path) -> dict[str, tuple[int, ...] | str]:
    """Every file below a folder, with what is said about it; bytecode that Python keeps is not."""
    found: dict[str, tuple[int, ...] | str] = {}
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in (*folders, *files):
            path = f"{at}/{name}"
            status = os.lstat(path)
            found[path] = (status.st_mode, status.st_uid)
            if name in files:
                found[path] += (status.st_size, status.st_nlink, status.st_mtime_ns)
    return found


def readable_python(home: Path) -> str:
    """An interpreter of this version, with what is installed here, that everybody can read."""
    version = f"python3.{sys.version_info.minor}"
    packages = Path(pytest.__file__).resolve().parent.parent
    asked = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    for name in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        script = f"import os, sys; os.listdir({str(packages)!r}); os.listdir({str(ROOT)!r})"
        try:
            subprocess.run([name, "-c", script], check=True, capture_output=True, cwd="/", **asked)
        except (OSError, subprocess.CalledProcessError):
            continue
        if name == sys.executable:
            return name
        made = [name, "-m", "venv", "--without-pip", home / "venv"]
        if subprocess.run(made, capture_output=True).returncode == 0:
            [own] = (home / "venv/lib").glob("python3*/site-packages")
            (own / "all.pth").write_text(f"import site; site.addsitedir({str(packages)!r})\n")
            return str(home / "venv/bin/python")
    pytest.skip(f"user {NOBODY} can read no {version} here")
