"""Where a key of a TOML file stands: `tomllib` keeps no lines."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator


def line_of(text: str, key: str) -> int:
    """The line where `key` begins (`limits.call`, `examples[1].args`), counted from 1.

    A key that is not there is looked for one table further out; the file itself is line 1.
    """
    best, line = "", 1
    for place, path in _places(text):
        if len(path) > len(best) and (key == path or key.startswith((f"{path}.", f"{path}["))):
            best, line = path, place
    return line


def _places(text: str) -> Iterator[tuple[int, str]]:
    """The line and the full key of every table and every entry."""
    table, counts = "", Counter[str]()
    for line, statement in _statements(text):
        head = statement.strip()
        if head.startswith("[["):
            name = head[2:].partition("]")[0].strip()
            table = f"{name}[{counts[name]}]"
            counts[name] += 1
            yield line, table
        elif head.startswith("["):
            table = head[1:].partition("]")[0].strip()
            yield line, table
        elif "=" in head:
            name = head.partition("=")[0].strip().strip("\"'")
            yield line, f"{table}.{name}" if table else name


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each header and each entry, however many lines it takes, with its first line's number."""
    first, pending = 1, ""
    for number, line in enumerate(text.splitlines(), 1):
        blank = not line.strip() or line.lstrip().startswith("#")
        if not pending and blank:
            continue
        first = first if pending else number
        pending += f"{line}\n"
        try:
            tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue  # a list or a text that goes on in the next line
        yield first, pending
        pending = ""
    if pending:
        yield first, pending
