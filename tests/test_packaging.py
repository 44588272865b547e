"""What is handed out: the wheel and the sdist hold the learner's kit and none of the secrets."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from grader import kit as kits
from grader.dev import leaks
from grader.dev.leaks import contents
from tests.conftest import ROOT

KIT = kits.find()


def files_under(folder: Path) -> dict[str, bytes]:
    """The kit's own files under a folder: path from there, and bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(name="archives", scope="session")
def _archives(tmp_path_factory):
    """The sdist, and the wheel that is built from it, as a release would build them."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT],
        check=True,
        capture_output=True,
    )
    return {path.suffix: path for path in out.iterdir()}


@pytest.fixture(name="installed", scope="session")
def _installed(archives, tmp_path_factory):
    """Runs `grade` from the wheel, put in a folder of its own, far from the checkout."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(archives[".whl"]) as wheel:
        wheel.extractall(site)

    def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "grader", *arguments],
            cwd=cwd,
            env=os.environ | {"PYTHONPATH": str(site), "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    return run


@pytest.mark.skipif(KIT.solutions is None, reason="a learner's kit has no solutions to look for")
@pytest.mark.parametrize("kind", [".whl", ".gz"])
def test_no_secret_is_handed_out(archives, kind):
    """Nothing of `solutions/` is in the archive, under whatever name or in another file."""
    assert leaks.search(KIT, {kind: contents(archives[kind])}) == []


@pytest.mark.parametrize("folder", ["problems", "templates"])
def test_the_wheel_holds_the_learners_kit(archives, folder):
    """Every file of the problems and the stubs is in the wheel, unchanged."""
    wheel = contents(archives[".whl"])
    wanted = {f"grader/_data/{folder}/{p}": data for p, data in files_under(ROOT / folder).items()}
    assert wanted
    assert {path: wheel.get(path) for path in wanted} == wanted


def test_the_wheel_holds_the_grader_and_nothing_beside_it(archives):
    """No `tests`, `problems` or `solutions` becomes a top-level package of an installation."""
    wheel = contents(archives[".whl"])
    assert {name.split("/")[0] for name in wheel} == {
        "grader",
        *(name.split("/")[0] for name in wheel if ".dist-info/" in name),
    }
    assert "grader/schema/score-v1.json" in wheel
    assert "grader/worker/__main__.py" in wheel


def test_the_sdist_can_be_worked_on(archives):
    """It holds the tests, the problems and the project file."""
    names = {name.partition("/")[2] for name in contents(archives[".gz"])}
    assert {"pyproject.toml", "LICENSE", "problems/verify/problem.toml"} <= names
    assert "tests/test_packaging.py" in names


def test_an_installed_package_finds_its_problems(installed, tmp_path):
    """Away from the checkout, `grade` lists, shows and starts the problems it came with."""
    assert "verify" in installed("list", cwd=tmp_path).stdout
    assert installed("show", "step", cwd=tmp_path).stdout.startswith("# ")
    assert installed("start", "verify", cwd=tmp_path).returncode == 0
    assert (tmp_path / "verify.py").read_bytes() == (ROOT / "templates/verify.py").read_bytes()


def test_an_installed_package_grades_with_the_public_checks(installed, tmp_path, valid_score):
    """A learner's kit grades, has no hidden checks and says so."""
    installed("start", "verify", cwd=tmp_path)
    result = installed("run", "verify.py", "--json", "score.json", cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    score = valid_score((tmp_path / "score.json").read_text(encoding="utf-8"))
    assert (score["score"], score["seed"]) == (0, None)
    assert not any(check["hidden"] for check in score["checks"])
    assert "more points when your course grades it" in result.stdout


def test_the_folder_of_an_installed_kit_is_not_mistaken_for_a_checkout(installed, tmp_path):
    """A `problems` folder where the learner works is not taken for the kit."""
    (tmp_path / "problems" / "mine").mkdir(parents=True)
    (tmp_path / "problems" / "mine" / "problem.toml").touch()
    assert "verify" in installed("list", cwd=tmp_path).stdout
