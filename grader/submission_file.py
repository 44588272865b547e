"""A learner's file, read as bytes and told apart by its name and its import lines.

Nothing here parses, compiles or imports it: that happens in the worker alone.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from grader.clean import clean_line
from grader.faults import UsageError

MOST_BYTES = 256 * 1024


class OutOfReach(UsageError):
    """A file, or a folder with files, that the machine does not let one read: its disk fails, or
    whoever runs the grader may not. Nobody who handed something in can mend that."""


@dataclass(frozen=True)
class SubmissionSource:
    """A learner's file: its name without folders, its text, and the hash and size of its bytes.

    The name is cleaned, since a learner chooses it and a report shows it. The text has no byte
    order mark and ends its lines with "\\n", as Python reads source.
    """

    name: str
    text: str
    sha256: str
    size: int


def read(path: Path) -> SubmissionSource:
    """The file at `path`; UsageError, saying what to do, if it cannot be a submission.

    A link is followed within its own folder only: what a learner hands in must not name a file of
    somebody else's that the report would then quote.
    """
    # Also where Python takes the names of files for something else, as with LC_ALL=C.
    name = os.fsencode(path.name).decode("utf-8", "replace")
    return of_bytes(name, _bytes(_within_its_folder(path), path), str(path))


def of_bytes(name: str, data: bytes, shown: str) -> SubmissionSource:
    """As `read`, for bytes that come another way; messages name them as `shown`."""
    if len(data) > MOST_BYTES:
        raise UsageError(_too_large(shown, len(data)))
    return SubmissionSource(
        name=clean_line(name) or "submission",
        text=_text(shown, data),
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
    )


def problem_of(path: Path, slugs: list[str]) -> str | None:
    """The slug that the file's stem is, or begins with before `_`, `-` or a space, in capitals or
    not: `Verify (1).py` is what a browser makes of it. None if there is none.

    The longest wins: `top-k_mine.py` is for `top-k`, even where there is a problem `top`.
    """
    ends = r"(?![^_\- (])"
    fitting = [slug for slug in slugs if re.match(re.escape(slug) + ends, path.stem, re.IGNORECASE)]
    return max(fitting, key=len, default=None)


def library_of(text: str, libraries: tuple[str, ...]) -> str:
    """The library a submission is written in, guessed from its import lines.

    PyTorch if it is imported, NumPy if that alone is; only what the problem offers counts, and its
    first library is taken where nothing tells. It is a guess from text, never an error: asking for
    a library by name overrules it.
    """
    imported = {
        name.partition(".")[0]
        for line in _IMPORT.finditer(_LONG_STRING.sub("", text))
        for name in re.findall(r"[\w.]+", line["from"] or re.sub(r"\bas\s+\w+", "", line["names"]))
    }
    return next(
        (name for name in ("torch", "numpy") if name in imported & {*libraries}), libraries[0]
    )


_LONG_STRING = re.compile(r'("""|\'\'\').*?\1', re.DOTALL)
_IMPORT = re.compile(
    r"(?:^|;)[ \t]*(?:from[ \t]+(?P<from>[\w.]+)[ \t]+import\b|import[ \t]+(?P<names>[^;#\n]+))",
    re.MULTILINE,
)


def chosen_library(
    asked: str, source: SubmissionSource, slug: str, offered: tuple[str, ...]
) -> str:
    """The library to grade in: the one asked for, or with `auto` the guessed one.

    Raises UsageError if the problem does not offer the one asked for.
    """
    if asked == "auto":
        return library_of(source.text, offered)
    if asked not in offered:
        raise UsageError(
            f"problem '{slug}' is not offered in {asked}, only in {', '.join(offered)}; "
            f"say --library {offered[0]}, or leave --library out"
        )
    return asked


def _within_its_folder(path: Path) -> Path:
    """Where a path leads, if that is inside the folder it names; else UsageError."""
    if not os.path.islink(path):  # noqa: PTH114 (which raises where the folder is closed)
        return path
    folder, file = (Path(os.path.realpath(each)) for each in (path.parent, path))
    if not file.is_relative_to(folder):
        raise UsageError(f"{path}: a link to a file outside its folder; hand in the file itself")
    return file


def _bytes(path: Path, handed_in: Path) -> bytes:
    """What the file at `path` holds; messages name it as it was handed in, which may be a link."""
    # Opened without waiting, then looked at: a pipe would otherwise hold the command up for ever,
    # and looking first would leave a moment in which the path can change.
    try:
        descriptor = os.open(path, os.O_RDONLY | _OPEN)
    except OSError as error:
        raise _unreadable(handed_in, error) from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{handed_in}: a folder, not a file; give the Python file inside it")
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(
                f"{handed_in}: not an ordinary file; save the submission as a .py file"
            )
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # Not the most at once: what a large buffer leaves between the texts of a class doubles
            # what they take. A size may be told wrongly, so what is left is read as well.
            data = file.read(min(status.st_size, MOST_BYTES) + 1)
            data += file.read(MOST_BYTES + 1 - len(data))
    except OSError as error:
        raise _unreadable(handed_in, error) from None
    finally:
        os.close(descriptor)
    if len(data) > MOST_BYTES:
        raise UsageError(_too_large(str(handed_in), max(status.st_size, len(data))))
    return data


# Not a link either: one that leads out of the folder may have come since that was looked at.
_OPEN = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY", "O_CLOEXEC"))


def _too_large(shown: str, size: int) -> str:
    return (
        f"{shown}: {size:,} bytes; a submission may have {MOST_BYTES // 1024} KiB; "
        "hand in the source alone, without data in it"
    )


def _unreadable(path: Path, error: OSError) -> UsageError:
    match error.errno:
        case errno.ENOENT if os.path.islink(path):  # noqa: PTH114 (as above)
            told = "a link that leads nowhere; hand in the file itself"
        case errno.ENOENT:
            told = "no such file; check the name, or begin one with grade start"
        case errno.ENOTDIR:
            told = "no such file; part of this path is a file, not a folder"
        case errno.EISDIR:
            told = "a folder, not a file; give the Python file inside it"
        case errno.ELOOP:
            told = "a link that leads nowhere; hand in the file itself"
        case errno.ENXIO:
            told = "not an ordinary file; save the submission as a .py file"
        case errno.EACCES | errno.EPERM:
            return OutOfReach(f"{path}: may not be read; allow it with chmod u+r, or save a copy")
        case _:
            return OutOfReach(
                f"{path}: cannot be read ({error.strerror}); save a copy and try that"
            )
    return UsageError(f"{path}: {told}")


def _text(shown: str, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{shown}: saved as UTF-16; save it as UTF-8")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise UsageError(
            f"{shown}: has a NUL byte on line {line}, so it is not Python source "
            "(or is UTF-16 without a mark); save it as UTF-8"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{shown}: not UTF-8: byte 0x{data[error.start]:02x} on line {line}; save it as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
