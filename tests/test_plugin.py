"""The checks as ordinary pytest tests, run by hand with pytest's own output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import kits

ROOT = Path(__file__).resolve().parent.parent
STEP = ROOT / "problems/step/checks.py"
VERIFY = ROOT / "problems/verify/checks.py"


@pytest.fixture(name="run")
def _run(tmp_path: Path):
    """Runs pytest with the plugin, in an empty folder."""
    folder = tmp_path / "here"
    folder.mkdir()

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "pytest"]
        command += ["-p", "grader.plugin", "-p", "no:cacheprovider"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        return subprocess.run(
            [*command, *map(str, arguments)],
            cwd=folder,
            env=environment | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    return run


@pytest.fixture(name="tiny")
def _tiny(tmp_path: Path) -> kits.TinyKit:
    return kits.write_kit(tmp_path / "kit")


def test_checks_run_with_the_output_of_pytest(run):
    """`pytest -p grader.plugin CHECKS --submission FILE` is an ordinary run of pytest."""
    done = run(STEP, "--submission", ROOT / "solutions/step/solution.py", "-v")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks.py::test_first_rejection_ends_the_answer PASSED" in done.stdout
    assert "passed in" in done.stdout
    assert "failed" not in done.stdout
    assert "Warning" not in done.stdout + done.stderr


def test_a_failure_is_told_as_the_learner_would_read_it(run, tiny):
    """A lost check shows its message and no traceback of the kit; the others are judged as well."""
    done = run(tiny.checks, "--submission", ROOT / "tests/outcomes/exception.py")

    assert done.returncode == 1
    assert "1 failed, 2 passed in" in done.stdout
    assert (
        "  number = 13\nyour code raised ValueError: math domain error\n"
        "  line 11, in plus_one\n    return half(number) if number == 13 else number + 1\n"
        "  line 7, in half\n    return math.sqrt(number - 14)\n"
    ) in done.stdout
    assert "submission.check" not in done.stdout


def test_a_file_that_does_not_load_is_skipped_throughout(run, tiny, tmp_path):
    """Where nothing can be tried every check is skipped with the reason, and none passes."""
    broken = tmp_path / "broken.py"
    broken.write_text("def plus_one(number) return 2\n", encoding="utf-8")

    done = run(tiny.checks, "--submission", broken, "-rs")

    assert "3 skipped in" in done.stdout
    assert "the submission could not be loaded" in done.stdout
    assert "passed" not in done.stdout


def test_one_check_can_be_chosen_and_its_crash_is_shown(run, tmp_path):
    """A node id chooses a check, and what is wrong with it is shown as the error it is."""
    crashing = kits.CHECKS.replace("assert submission(1) == exactly(2)", "{}['key']")
    tiny = kits.write_kit(tmp_path / "crashing", checks=crashing)

    done = run(f"{tiny.checks}::test_before", "--submission", ROOT / "tests/outcomes/right.py")

    assert done.returncode == 1
    assert "KeyError: 'key'" in done.stdout
    assert "1 failed in" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(
            [STEP],
            "grader.plugin: say which file to grade with --submission FILE",
            id="no submission",
        ),
        pytest.param(
            [STEP, VERIFY, "--submission", VERIFY],
            "grader.plugin: give the check files of one problem, problems/SLUG/checks.py",
            id="two problems",
        ),
        pytest.param(
            ["--submission", VERIFY],
            "grader.plugin: give the check files of one problem, problems/SLUG/checks.py",
            id="no checks",
        ),
        pytest.param(
            [STEP, "--submission", "nowhere.py"],
            "nowhere.py: no such file; check the name, or begin one with grade start",
            id="no such file",
        ),
        pytest.param(
            [STEP, "--submission", VERIFY, "--library", "numpy"],
            "problem 'step' is not offered in numpy, only in torch; say --library torch, "
            "or leave --library out",
            id="library that is not offered",
        ),
    ],
)
def test_a_wrong_request_is_an_error_of_usage(run, arguments, told):
    """What cannot be run is said in one line, with exit code 4, before any worker starts."""
    done = run(*arguments)

    assert done.returncode == 4
    assert f"ERROR: {told}\n" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_help_needs_no_submission(run):
    """`pytest -p grader.plugin --help` lists the options of the plugin."""
    done = run("--help")

    assert done.returncode == 0
    assert "--submission=FILE" in done.stdout
    assert "--grading-seed" in done.stdout
