"""What lies in a place: its files and folders by name, and a way to read each, before anybody asks
whose they are.

Links to folders are never followed. Names are kept as they are on disk; who shows one cleans it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from grader import submission_file
from grader.faults import UsageError
from grader.submission_file import OutOfReach, SubmissionSource

Parts = tuple[str, ...]  # the names that lead from the place to a file or a folder

# What file managers, Python and package managers leave behind.
_JUNK = {"__macosx", "__pycache__", "node_modules", "site-packages"}


_OF_A_LEARNER = re.compile(r"\..+_(\d+_assignsubmission_|(LATE_)?\d+_\d+_)")


class Readable(Protocol):
    """Something with bytes. What is wrong with it is a UsageError that names no place."""

    def source(self, name: str) -> SubmissionSource: ...

    def data(self, most: int) -> bytes: ...


@dataclass(frozen=True)
class File:
    """A file: where it lies and how to read it."""

    parts: Parts
    content: Readable

    @property
    def name(self) -> str:
        return self.parts[-1]


@dataclass(frozen=True)
class Listing:
    """The files and folders of a place, junk left out.

    closed: folders that were not looked into, with the reason.
    """

    files: Sequence[File] = ()
    folders: Sequence[Parts] = ()
    closed: dict[Parts, str] = field(default_factory=dict)

    def inside(self, head: str) -> Listing:
        """What lies in one folder of the place, as a place of its own."""
        return Listing(
            files=[
                replace(file, parts=file.parts[1:])
                for file in self.files
                if file.parts[0] == head and len(file.parts) > 1
            ],
            folders=[parts[1:] for parts in self.folders if parts[0] == head and len(parts) > 1],
            closed={parts[1:]: why for parts, why in self.closed.items() if parts[0] == head},
        )


def is_junk(name: str) -> bool:
    """Whether a file or folder of this name is nobody's work: hidden, or left by a program.

    Moodle and Canvas put a learner's name first, which may begin with a dot.
    """
    hidden = name.startswith(".") and not _OF_A_LEARNER.match(name)
    return hidden or name.casefold() in _JUNK


def may_be_work(name: str) -> bool:
    """Whether a file of this name is graded, or may hold one that is."""
    return name.casefold().endswith((".py", ".zip")) and name != "__init__.py"


@dataclass(frozen=True)
class OnDisk:
    """A file on disk."""

    path: Path

    def source(self, name: str) -> SubmissionSource:
        try:
            return replace(submission_file.read(self.path), name=name)
        except UsageError as error:
            # The same of what kind it is.
            raise type(error)(str(error).removeprefix(f"{self.path}: ")) from None

    def data(self, most: int) -> bytes:
        try:
            # Without waiting for a pipe, and not through a link, which may lead anywhere.
            descriptor = os.open(self.path, os.O_RDONLY | _OPEN)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise UsageError("not an ordinary file")
                data = file.read(most + 1)
        except OSError as error:
            raise UsageError(f"cannot be read ({error.strerror})") from None
        if len(data) > most:
            raise UsageError(too_much(most))
        return data


@dataclass(frozen=True)
class Refused:
    """A file that is not read, with the reason."""

    reason: str

    def source(self, name: str) -> SubmissionSource:
        raise UsageError(self.reason)

    def data(self, most: int) -> bytes:
        raise UsageError(self.reason)


_OPEN = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY", "O_CLOEXEC"))


def too_much(most: int) -> str:
    size = f"{most // 1024**2} MiB" if most >= 1024**2 else f"{most // 1024} KiB"
    return f"more than {size}; hand in the source alone, without data in it"


def of_folder(place: Path) -> Listing:
    """All that lies below a folder; OutOfReach if the folder itself cannot be looked into.

    A folder below it that cannot be is told under `closed`, and so is a link to a folder at the
    top, since that would be a learner's.
    """
    files: list[File] = []
    folders: list[Parts] = []
    closed: dict[Parts, str] = {}
    waiting: list[Parts] = [()]
    while waiting:
        above = waiting.pop()
        try:
            with os.scandir(place.joinpath(*above)) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            if not above:
                raise OutOfReach(f"{place}: cannot be looked into ({error.strerror})") from None
            closed[above] = f"a folder that cannot be looked into ({error.strerror})"
            continue
        for entry in entries:
            parts = (*above, entry.name)
            if is_junk(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(parts)
                waiting.append(parts)
            elif not above and entry.is_symlink() and _leads_to_a_folder(entry):
                folders.append(parts)
                closed[parts] = "a link to a folder, which is not followed; hand in the folder"
            elif not above and entry.is_symlink():
                # It may stay in its folder and still lead to another learner's file.
                files.append(File(parts, Refused("a link; hand in the file itself")))
            else:
                files.append(File(parts, OnDisk(place.joinpath(*parts))))
    return Listing(files, folders, closed)


def _leads_to_a_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
