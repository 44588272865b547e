"""A result on disk: the old one goes first, the new one appears whole or not at all."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from grader.faults import UsageError


def prepare(path: Path, submission: Path, option: str = "--json") -> Path:
    """Remove an older result at `path` and make sure that a new one can be written there.

    Returns the path to write to, with links followed. Raises UsageError, which names the option
    that gave the path, where that is not possible, before any time is spent on grading; a stale
    result can then never be read for a new one.
    """
    told = f"{option} {path}"
    try:
        target = path.resolve()
        _refuse(told, path, target, submission)
        target.unlink(missing_ok=True)
        probe = _partial(target)
        probe.touch(exist_ok=False)
        probe.unlink()
    except RuntimeError:  # what Python 3.11 calls a loop of links
        raise UsageError(f"{told}: a link that leads to itself; choose another place") from None
    except OSError as error:
        raise UsageError(
            f"{told}: cannot be written ({error.strerror}); choose another place"
        ) from None
    return target


def write(target: Path, text: str) -> None:
    """Put `text` at `target`, which `prepare` returned, in one step."""
    with replacing(target) as file:
        file.write(text)


@contextmanager
def replacing(target: Path) -> Iterator[TextIO]:
    """A file to write to, which takes the place of `target` once all of it is written."""
    partial = _partial(target)
    try:
        with partial.open("x", encoding="utf-8", newline="\n") as file:
            yield file
        partial.replace(target)
    except OSError as error:
        raise UsageError(f"{target.name}: could not be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)


def _partial(target: Path) -> Path:
    # In the same folder, so that moving it into place is one step of the file system.
    return target.with_name(f".grade-{secrets.token_hex(6)}.tmp")


def _refuse(told: str, path: Path, target: Path, submission: Path) -> None:
    if not target.parent.is_dir():
        raise UsageError(f"{told}: there is no folder {path.parent}; make it first")
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise UsageError(f"{told}: a folder; give a file name in it")
    if not stat.S_ISREG(mode):
        raise UsageError(f"{told}: not an ordinary file; - writes to the output")
    if submission.exists() and target.samefile(submission):
        raise UsageError(f"{told}: that is the submission itself; choose another name")
