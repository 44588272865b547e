"""A complaint: one rule of a sound kit that is broken, where, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Complaint:
    """rule: its short name. file: from the kit's root, with `/`. line: counted from 1."""

    file: str
    line: int
    rule: str
    text: str
    cure: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}\n    {self.cure}"
