"""A zip file as a place: read in memory, never unpacked, and not trusted in anything it says.

A size in a zip file is a claim, so no more is ever read of an entry than a submission may have;
that, and a limit on what is read of one learner's, is what stops a bomb, whatever its ratio. Only
stored and deflated entries are read, which is what course platforms and file managers write:
Python's readers of the other kinds unpack without a bound on memory. What is wrong with one entry
is told when that entry is read; only an archive whose list of entries cannot be read is refused as
a whole.
"""

from __future__ import annotations

import io
import re
import stat
import zipfile
from dataclasses import dataclass
from typing import IO, Any

from grader import submission_file
from grader.batch.found import File, Listing, Parts, Refused, is_junk, may_be_work, too_much
from grader.faults import UsageError
from grader.submission_file import SubmissionSource

MOST_ENTRIES = 200_000  # of a class, which may hand in whole environments
MOST_READ = 64 * 1024**2  # bytes of one learner, of the archives in an archive too
_MOST_LIST = 64 * 1024**2  # bytes of the list of entries; so many with long names need less


@dataclass
class Budget:
    """How many bytes may still be read, for one learner after another."""

    left: int

    def renew(self) -> None:
        """It is another learner's turn: nobody uses up what is another's."""
        self.left = MOST_READ


class Archive:
    """An open zip file. UsageError, in words without a place, if it cannot be read at all."""

    def __init__(self, file: IO[bytes], budget: Budget | None = None) -> None:
        self.budget = Budget(MOST_READ) if budget is None else budget
        self._file = file
        try:
            self._zip = zipfile.ZipFile(_ShortReads(file))
        except Exception as error:  # zipfile answers hostile bytes with errors of every kind
            file.close()
            if isinstance(error, UsageError):
                raise
            raise UsageError("not a zip file, or one that was cut short; fetch it again") from None
        if len(self._zip.infolist()) > MOST_ENTRIES:
            self.close()
            raise UsageError(f"a zip file of more than {MOST_ENTRIES:,} entries; split it")

    def close(self) -> None:
        self._zip.close()
        self._file.close()

    def listing(self) -> Listing:
        """Its entries as files and folders, also the folders that no entry of their own names."""
        files: list[File] = []
        folders: dict[Parts, None] = {}
        closed: dict[Parts, str] = {}
        for info in self._zip.infolist():
            name = _name(info)
            parts, fault = _parts(name)
            is_folder = name.endswith("/")
            above = parts if is_folder else parts[:-1]
            for depth in range(1, min(len(above), 64) + 1):
                if is_junk(above[depth - 1]):
                    break
                folders[above[:depth]] = None
            if not parts or any(map(is_junk, parts)):
                continue
            if not is_folder:
                fault = fault or _fault(info)
                files.append(File(parts, Refused(fault) if fault else Entry(self, info)))
            if len(parts) == 1 and _is_link(info) and not may_be_work(name):
                # As on disk, in place of a learner's folder.
                folders[parts] = None
                closed[parts] = "a link in the zip file, in place of a folder; hand in the folder"
        return Listing(files, list(folders), closed)

    def read(self, info: zipfile.ZipInfo, most: int) -> bytes:
        if self.budget.left <= 0:
            raise UsageError(
                f"not read, after {MOST_READ // 1024**2} MiB of the same learner's; hand in the "
                "source alone"
            )
        try:
            with self._zip.open(info) as entry:
                data = entry.read(most + 1)
        except Exception:  # as above
            self.budget.left -= most
            raise UsageError("damaged in the zip file; fetch that again") from None
        self.budget.left -= len(data)
        if len(data) > most:
            raise UsageError(too_much(most))
        return data


@dataclass(frozen=True)
class Entry:
    """A file in a zip file."""

    archive: Archive
    info: zipfile.ZipInfo

    def source(self, name: str) -> SubmissionSource:
        data = self.data(submission_file.MOST_BYTES)
        try:
            return submission_file.of_bytes(name, data, name)
        except UsageError as error:
            raise UsageError(str(error).removeprefix(f"{name}: ")) from None

    def data(self, most: int) -> bytes:
        if self.info.compress_size > 2 * most:
            # Deflate makes nothing twice as large; this would be read to its end for nothing.
            raise UsageError(too_much(most))
        return self.archive.read(self.info, most)


class _ShortReads(io.RawIOBase):
    """A file that gives no more than a list of entries may take at a time.

    zipfile reads that list at once, and makes an object of every 46 bytes of it.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > _MOST_LIST:
            raise UsageError(f"a zip file of more than {MOST_ENTRIES:,} entries; split it")
        return self._file.read(_MOST_LIST if size < 0 else size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _name(info: zipfile.ZipInfo) -> str:
    """The name an entry was given, with "/" between folders.

    macOS writes UTF-8 without the mark that says so, which zipfile reads as code page 437.
    """
    name = info.orig_filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name.replace("\\", "/")


def _parts(name: str) -> tuple[Parts, str | None]:
    """The names a path is made of, those that lead nowhere left out; and what is wrong with it."""
    parts = tuple(part for part in name.split("/") if part not in ("", ".", ".."))
    if "\0" in name:
        return parts, "its name in the zip file has a NUL in it"
    if name.startswith("/") or re.match(r"[A-Za-z]:/", name):
        return parts, "its name in the zip file is an absolute path"
    if ".." in name.split("/"):
        return parts, "its name in the zip file leads out of its folder ('..')"
    return parts, None


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _fault(info: zipfile.ZipInfo) -> str | None:
    if _is_link(info):
        return "a link in the zip file; hand in the file itself"
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "not an ordinary file in the zip file"
    if info.flag_bits & 0x1:
        return "locked with a password in the zip file; hand it in without one"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "packed in the zip file in an unusual way; pack it with deflate"
    return None
