"""Grades {{ file }} for Classroom 50, whose runner starts this in a learner's checkout.

It leaves ./result.json and exits with 0 where there is a result, also of a file that does not load.
With another exit code there is none, and the runner tells of an error of the autograder.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FILE, PROBLEM = "{{ file }}", "{{ slug }}"
HERE, CHECKOUT = Path(__file__).resolve().parent, Path.cwd()
RESULT = CHECKOUT / "result.json"
CPU_BUILD = "https://download.pytorch.org/whl/cpu"  # the one on PyPI brings CUDA along


def main() -> int:
    remove_result()
    # KIT_PYTHON names a Python that has the kit already, as in an image of your own.
    python = os.environ.get("KIT_PYTHON") or installed()
    found = run(
        *(python, "-P", "-m", "grader", "run", CHECKOUT / FILE, "--problem", PROBLEM),
        *("--require-isolation", "--format", "classroom50", "-o", RESULT),
    )
    # 0 and 1: graded; 2 with a result: a file that cannot be read. All else is nobody's result.
    if found in (0, 1, 2) and RESULT.is_file():
        return 0
    remove_result()
    return 3


def remove_result() -> None:
    """Whatever a learner has put there, a folder or a link as well."""
    if RESULT.is_dir() and not RESULT.is_symlink():
        shutil.rmtree(RESULT)
    else:
        RESULT.unlink(missing_ok=True)


def installed() -> str:
    """A new environment with the kit; its Python."""
    folder = tempfile.mkdtemp(prefix="kit-", dir=os.environ.get("RUNNER_TEMP"))
    python = f"{folder}/bin/python"
    pip = (python, "-P", "-m", "pip", "install", "--quiet", "--extra-index-url", CPU_BUILD)
    for command in (
        (sys.executable, "-P", "-m", "venv", folder),
        (*pip, "-c", HERE / "constraints.txt", HERE / "kit.tar.gz"),
    ):
        if code := run(*command):
            sys.exit(f"the kit could not be installed (exit code {code})")
    return python


def run(*command: str | Path) -> int:
    """A command, away from the checkout: any file there may be called like a module."""
    return subprocess.run(command, cwd=HERE, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
