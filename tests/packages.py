"""Packages for platforms, tried as these do: a tiny kit is packed, laid out, and given files.

The scripts run in an environment that could set a grader up wrongly, over a result of full marks
that an earlier grading may have left.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.dev.packages import learners
from grader.export import render
from grader.kit import find
from grader.problem import load
from tests import kits
from tests.hostile_places import NOBODY, readable_python

SECRET = "SECRETTITLE"  # in the title of the hidden check, and nowhere else
OLD = '{"score": 999, "gradable": true}'
WRONG = "def plus_one(number):\n    return 14 if number == 13 else 2\n"
HOSTILE = {
    "leaves": "import os\nos._exit(0)\n",
    "never ends": "while True:\n    pass\n",
    # PLACES is filled in: what is to be read, listed, and written to.
    "reads, writes and prints": (
        "import os\n"
        "for path in PLACES:\n"
        "    for look in (os.listdir, lambda path: open(path).read(),\n"
        "                 lambda path: open(path, 'w').write('TAKEN'),\n"
        "                 lambda path: open(path + '/results.json', 'w').write('TAKEN')):\n"
        "        try:\n"
        "            print('GOT', look(path))\n"
        "        except OSError as error:\n"
        "            print(type(error).__name__)\n"
        "for line in ('::error::x', '   ::notice::x', 'x ##[error]y', '::stop-commands::x'):\n"
        "    print(line)\n"
        "print('\\x1b]0;x\\x07\\x00')\n"
        "def plus_one(number):\n"
        "    raise ValueError('::error::' + 'x' * 100_000)\n"
    ),
}


def instructors_kit(folder: Path) -> kits.TinyKit:
    """A kit of one problem, worth 10 points, 3 of them hidden."""
    return kits.write_kit(
        folder,
        toml=kits.TOML.replace("hidden = 0", "hidden = 3"),
        hidden=kits.HIDDEN.replace("One more than", f"{SECRET}: one more than"),
        solution=kits.RIGHT,
    )


def fault(platform: str, kit: kits.TinyKit) -> str:
    """What says on a platform that nothing was graded, where the grader gives no result at all."""
    found = find(kit.root)
    return render(platform, learners.fault(found, load(found, kit.slug)))


def export(*arguments: object) -> subprocess.CompletedProcess[str]:
    """`grade dev export …` with a kit that is named first."""
    kit, *others = map(str, arguments)
    return subprocess.run(
        [sys.executable, "-P", "-m", "grader", "--kit", kit, "dev", "export", *others],
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


def unzip(archive: Path, folder: Path) -> None:
    """As the program of that name: with the rights that the archive tells."""
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            Path(packed.extract(entry, folder)).chmod(entry.external_attr >> 16 & 0o777)


@pytest.fixture(name="folder", scope="module")
def _folder():
    """A folder that everybody can get into, as a platform's is."""
    folder = Path(tempfile.mkdtemp(prefix="package_"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(name="python", scope="module")
def _python(folder) -> str:
    """The Python that a platform's script installs: as root, one that everybody can read."""
    return readable_python(folder) if os.geteuid() == 0 else sys.executable


@dataclass(frozen=True)
class Platform:
    """A platform's folders below `root`: what is handed in, the results, and a package."""

    root: Path
    handed_in: Path
    script: Path
    environment: dict[str, str]

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def result(self) -> Path:
        return self.results / "results.json"

    def hand_in(self, files: dict[str, str]) -> None:
        """Puts these files in the place of what was handed in before, and plants an old result."""
        shutil.rmtree(self.handed_in, ignore_errors=True)
        self.handed_in.mkdir()
        for name, text in files.items():
            (self.handed_in / name).write_text(text, encoding="utf-8")
        shutil.rmtree(self.results, ignore_errors=True)
        self.results.mkdir()
        self.result.write_text(OLD, encoding="utf-8")

    def argv(self) -> list[str]:
        return ["bash", str(self.script)]

    def surroundings(self) -> dict[str, str]:
        """The environment of the script."""
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LANG": "C",
            "PYTHONUTF8": "0",
            "PYTHONOPTIMIZE": "2",
            "PYTEST_ADDOPTS": "--collect-only",
            **self.environment,
        }

    def run(self, user: int | None = None) -> subprocess.CompletedProcess[str]:
        """What the script does with what was handed in."""
        somebody = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        return subprocess.run(
            self.argv(),
            cwd=self.root,
            env=self.surroundings(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            **somebody,
        )

    def grade(self, files: dict[str, str]) -> str:
        """The result for these files; the script leaves with 0 and nothing else behind."""
        self.hand_in(files)
        done = self.run()
        assert done.returncode == 0, done.stderr
        assert [path.name for path in self.results.iterdir()] == ["results.json"], done.stderr
        assert self.results.stat().st_mode & 0o777 == 0o755
        return self.result.read_text(encoding="ascii")


# What may be lost of a package on its way: a place in it, and what becomes of that.
LOST = {
    "all solutions": "solutions",
    "the solutions of the problem": "solutions/{slug}",
    "the hidden checks": "solutions/{slug}/hidden.py",
    "a check": "solutions/{slug}/hidden.py",  # the file is there, and empty
    "the problem": "problems/{slug}",
}


def without(
    platform: Platform, folder: Path, kit: kits.TinyKit, lost: str, source: str, variable: str
) -> Platform:
    """The same platform somewhere else, without a part of its package.

    source: where the package lies. variable: by which its script finds the platform's root.
    """
    root = folder / f"without {lost}"
    shutil.copytree(platform.root, root)
    place = root / source / "kit" / LOST[lost].format(slug=kit.slug)
    if lost == "a check":
        place.write_text("", encoding="utf-8")
    elif place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    return Platform(
        root,
        root / platform.handed_in.relative_to(platform.root),
        root / platform.script.relative_to(platform.root),
        {**platform.environment, variable: str(root)},
    )


def give_to_nobody(root: Path) -> None:
    """Makes all below a folder NOBODY's."""
    for path in (root, *root.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
