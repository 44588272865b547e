"""The harness of the tests: the real command in a process of its own, and small kits on disk."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import jsonschema
import pytest

from grader.lanes import cores

ROOT = Path(__file__).resolve().parent.parent

# A run finds what the run before it found. For new examples: --hypothesis-profile=default
hypothesis.settings.register_profile("same", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("same")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """What `-n auto` means here: one more than there are cores, since many tests only wait."""
    return min(cores() + 1, 8)


TOML = """\
format = 1
title = "Double a number"
summary = "Return twice the number given."
entry = "double"
parameters = ["x"]
libraries = ["torch", "numpy"]
sampled = false
hints = ["Adding counts as doubling.", "x + x"]

[limits]
load = 10
call = 2
submission = 10
memory = 1024

[points]
torch = { public = 3, hidden = 0, extra = 0 }
numpy = { public = 3, hidden = 0, extra = 0 }

[[examples]]
title = "Two"
args = [2]
returns = 4
"""

CHECKS = '''\
import pytest

from grader.expect import exactly


@pytest.mark.points(1, group="contract")
def test_two(submission):
    """Two becomes four."""
    assert submission(2) == exactly(4)


@pytest.mark.points(2, group="values")
@pytest.mark.hint("A number below zero is doubled as well.")
def test_negative(submission):
    """A number below zero becomes twice as far from zero."""
    assert submission(-3) == exactly(-6)
'''


class Command:
    """`grade` as a user starts it, with a state folder and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("PYTEST_") and key not in ("NO_COLOR", "TERM")
        }
        self.environment["XDG_STATE_HOME"] = str(folder / "state")
        self.environment["PYTHONUTF8"] = "1"

    def argv(self, *arguments: object) -> list[str]:
        # -P: nothing in the folder of the test can be imported by mistake.
        return [sys.executable, "-P", "-m", "grader", *map(str, arguments)]

    def __call__(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(*arguments),
            cwd=self.folder,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    def under_limit(self, limit: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """As a call, in a shell that has said `ulimit` and `limit`."""
        if limit.startswith("-t "):
            # Whoever may raise hard limits is not held by this one: the kit raises it and grades,
            # and there is no refusal to look at. Limits of memory it never raises.
            raised = subprocess.run(["bash", "-c", "ulimit -t 5; ulimit -t 6"], capture_output=True)
            if raised.returncode == 0:
                pytest.skip("a limit of time binds nobody here: this user may raise it")
        command = shlex.join(self.argv(*arguments))
        return subprocess.run(
            ["bash", "-c", f"ulimit {limit}; exec {command}"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )


@pytest.fixture(name="grade")
def _grade(tmp_path: Path) -> Command:
    """The command, run in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Command(folder)


@pytest.fixture(name="make_kit")
def _make_kit(tmp_path: Path) -> Callable[..., Path]:
    """Writes a kit with the one problem `double`, each of its files replaceable."""

    def make(**files: str) -> Path:
        kit = tmp_path / "kit"
        texts = {
            "problems/double/problem.toml": files.get("toml", TOML),
            "problems/double/statement.md": files.get("statement", "# Double\n\nReturn $2x$.\n"),
            "problems/double/learn.md": "# Doubling\n\nSee $x + x$.\n",
            "problems/double/checks.py": files.get("checks", CHECKS),
            "templates/double.py": "def double(x):\n    raise NotImplementedError\n",
            "templates/double_numpy.py": "def double(x):\n    raise NotImplementedError  # NumPy\n",
        }
        if "solution" in files:
            texts["solutions/double/solution.py"] = files["solution"]
        for name, text in texts.items():
            path = kit / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return kit

    return make


@pytest.fixture(name="valid_score", scope="session")
def _valid_score() -> Callable[[str], dict[str, Any]]:
    """Reads a score JSON strictly and checks it against the schema that the package ships."""
    schema = json.loads((ROOT / "grader/schema/score-v1.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    def read(text: str) -> dict[str, Any]:
        score: dict[str, Any] = json.loads(text, parse_constant=refuse)
        validator.validate(score)
        return score

    return read
