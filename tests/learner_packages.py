"""What the tests of packages for learners share: a kit, its grader installed from a package, and
submissions of every kind, each with what it may earn.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner, Result

from grader import kit as kits
from grader.dev import learner_kit
from grader.dev.export_cli import export
from grader.kit import Kit
from tests.kits import CHECKS, HIDDEN, RIGHT, TOML, TinyKit, write_kit

# Of an instructor, with what nobody may find in a package: a hidden check, and a reference.
SECRET = "def plus_one(number):\n    SECRETNAME = 1\n    return SECRETNAME + number\n"
SECRET_CHECKS = HIDDEN.replace("One more than any number", "SECRETTITLE: one more than any number")
_TOML = TOML.replace("hidden = 0", "hidden = 3").replace("submission = 10", "submission = 4")
# Every file that GitHub's runner has a step write verdicts to.
RUNNER_FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")


def kit(folder: Path) -> TinyKit:
    """An instructor's kit of one problem, without a grader of its own."""
    return write_kit(folder, checks=CHECKS, toml=_TOML, hidden=SECRET_CHECKS, solution=SECRET)


@dataclass(frozen=True)
class Submission:
    """What is handed in, what it earns of 7, and whether it loads."""

    source: str
    earned: int
    loads: bool = True


WRONG = "def plus_one(number):\n    return number + 2\n"
_EVERYWHERE = """\
import os, sys
print(sorted(os.environ))
for name in {files}:
    print(name, os.environ.get(name))
for path in ("results.json", "result.json", "../results.json", "/tmp/results.json", *{paths}):
    for mode in ("w", "a"):
        try:
            with open(path, mode) as file:
                file.write("status=success\\nresult=e30=\\n")
            print("WROTE", path)
        except OSError:
            print("tried", path)
def plus_one(number):
    return None
"""
_LOUD = """\
print("::notice title=Autograding complete::Points 7/7")
print('::notice title=Autograding report::{"totalPoints":7,"maxPoints":7}')
print("  ::stop-commands::x")
print("x ##[error]y")
def plus_one(number):
    raise ValueError("::error::x\\n   ::add-mask::7\\n##[warning]z")
"""


def submissions(*paths: Path) -> dict[str, Submission]:
    """Every kind; a hostile one writes to the paths, if it can."""
    told = _EVERYWHERE.format(files=RUNNER_FILES, paths=[str(path) for path in paths])
    return {
        "right": Submission(RIGHT, 7),
        "partly right": Submission(
            "def plus_one(number):\n    return 2 if number == 1 else number\n", 4
        ),
        "writes verdicts": Submission(told, 0),
        "prints commands": Submission(_LOUD, 0),
        "ends the process": Submission("import os\nos._exit(0)\n", 0, loads=False),
        "never ends": Submission("def plus_one(number):\n    while True:\n        pass\n", 0),
    }


_TOLD = (
    "::error title=next%3A could not be graded::This file could not be graded. "
    "The fault is in the grader, not in the file"
)
# A `grade` that is broken: what stands in its place, and the exit code it leaves with.
BROKEN = {
    "missing": None,
    "exits 3": "exit 3",
    "refuses": "echo 'grade: isolation here is too little' >&2; exit 2",
    "killed": "kill -9 $$",
    "says nothing": "exit 0",
    "crashes": "echo Traceback >&2; exit 1",
    "tells its fault": f"for out; do :; done; echo '{_TOLD}' > \"$out\"; exit 3",
}


def export_package(kit: Kit | Path, platform: str, out: Path, *options: str) -> Result:
    """`grade dev export` in this process: what it printed, and its exit code or exception."""
    root = kit.root if isinstance(kit, Kit) else kit
    return CliRunner().invoke(
        export, [platform, str(out), *options], obj=root, standalone_mode=False
    )


def install_environment(site: Path) -> dict[str, str]:
    """Variables that make pip install a kit alone into a folder, without fetching anything."""
    return {
        "PIP_TARGET": str(site),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "false",  # pip reads it the other way round
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def path_of(*folders: Path) -> str:
    """A PATH with this Python and what the system has, after the folders."""
    return os.pathsep.join([*map(str, folders), str(Path(sys.executable).parent), "/usr/bin:/bin"])


def site_environment(site: Path) -> dict[str, str]:
    """Variables by which the `grade` that lies in a folder is found, and runs."""
    return {"PATH": path_of(site / "bin"), "PYTHONPATH": str(site)}


def broken_path(folder: Path, kind: str) -> str:
    """A PATH on which `grade` is broken."""
    script = BROKEN[kind]
    if script is None:
        return "/usr/bin:/bin"
    folder.mkdir(exist_ok=True)
    grade = folder / "grade"
    grade.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    grade.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def files_under(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def unpacked(held: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a package, with those of its archives."""
    for name, data in [*held.items()]:
        if name.endswith(".tar.gz"):
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for member in archive.getmembers():
                    held[f"{name}/{member.name}"] = archive.extractfile(member).read()
    return held


def own_kit() -> Kit:
    """The kit of this repository."""
    return kits.find()


def copy_of(kit: Kit, folder: Path) -> Kit:
    """A learner's kit of it somewhere else, with other dates and rights: a checkout, as it were."""
    for name, data in learner_kit.contents(kit).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (1e9, 1e9))
        path.chmod(0o600)
    return kits.find(folder)


def learner_variables(text: str) -> set[str]:
    """The names of variables that the submission called "writes verdicts" printed."""
    found = re.search(r"\[('[A-Z_]+'[^\]]*)\]", text)
    assert found, text
    return set(re.findall(r"'(\w+)'", found[1]))


def run(
    command: list[str], cwd: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """A command with no other variables than these."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
