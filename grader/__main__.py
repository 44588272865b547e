"""Where the `grade` command begins, as a script or as `python -P -m grader`.

Loading PyTorch takes most of the time of a grading, in a process of its own. It is started here,
before even the command line is read by the library that reads it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from grader.workers import Launcher


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    # NumPy's own threads have nothing to do here, and would spin beside the import of PyTorch.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_standard_streams()
    try:
        started = start_ahead(sys.argv[1:])
        from grader import cli
    except KeyboardInterrupt:
        os._exit(130)  # before the command that would say so is there
    cli.main(started)


def open_standard_streams() -> None:
    """Gives every closed standard stream a place to go, so that no socket takes its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one


def start_ahead(arguments: list[str]) -> Launcher | None:
    """The launcher that `grade run` will want; None for other commands, and where it is not sure.

    It only guesses: a wrong guess costs a process that ends with this one, never a wrong answer.
    """
    if _command(arguments) != "run" or {"--help", "--version"} & {*arguments}:
        return None
    if any(argument.startswith(("--workers", "--isolation")) for argument in arguments):
        return None
    try:
        from grader import workers

        return workers.launcher("auto")
    except Exception:
        return None  # tried again, and told, in its place


def _command(arguments: list[str]) -> str | None:
    """The first word that is neither an option nor the folder of `--kit`."""
    words = iter(arguments)
    for word in words:
        if word == "--kit":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None


if __name__ == "__main__":
    main()
