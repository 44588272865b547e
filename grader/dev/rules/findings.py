"""What the rules have found so far, and how they read a file: one that cannot be read is a finding.

A rule asks for a file's text or syntax tree; where it gets None, that has been complained of.
"""

from __future__ import annotations

import ast
from pathlib import Path

from grader.dev.complaints import Complaint
from grader.kit import Kit

FILES, STRAY = "files", "stray file"


class Findings:
    """The complaints about one kit."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self._complaints: set[Complaint] = set()

    def sorted(self) -> list[Complaint]:
        """Every complaint once, by file and line."""
        return sorted(self._complaints)

    def complain(self, path: Path, line: int, text: str, cure: str, rule: str = FILES) -> None:
        self._complaints.add(Complaint(self.name(path), line, rule, text, cure))

    def name(self, path: Path) -> str:
        """A file by its place in the kit, whatever the system's separator."""
        return path.relative_to(self.kit.root).as_posix()

    def text(self, path: Path, missing: str) -> str | None:
        """The file's text; `missing` is the cure where there is no such file."""
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            self.complain(path, 1, "no such file", missing)
        except UnicodeDecodeError as error:
            line = path.read_bytes()[: error.start].count(b"\n") + 1
            self.complain(path, line, "is not UTF-8", "save it as UTF-8")
        except OSError as error:
            self.complain(path, 1, f"cannot be read: {error.strerror}", "make it a plain file")
        return None

    def module(self, path: Path, missing: str) -> ast.Module | None:
        """The file's syntax tree."""
        text = self.text(path, missing)
        if text is None:
            return None
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            told = getattr(error, "msg", None) or str(error)
            self.complain(path, line, f"is not Python: {told}", "correct this line")
            return None


def words(names: tuple[str, ...] | list[str]) -> str:
    """Names side by side, as a sentence lists them."""
    return ", ".join(names)
