"""RESULTS, the folder that a batch writes: whole at every moment, and enough to go on from.

    manifest.json     what was graded with what: kit, grader, seed, versions, isolation
    scores/NAME.json  the score document of one submission
    results.jsonl     a row for each learner and problem, graded or not
    grades.csv        the same for a spreadsheet
    state.sqlite      which submission has which row, by a key of everything the result depends on

A row is kept once its score document is on disk; each appears whole or not at all. results.jsonl
and grades.csv are made from the rows, now and then and at the end.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader import score_file
from grader.batch.row import Row
from grader.faults import UsageError
from grader.report import FaultReport, Report, to_json

FORMAT = 1

_COLUMNS = (
    "learner", "problem", "score", "max_score", "verdict", "status", "likely_cause", "reason",
)  # fmt: skip
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    learner TEXT NOT NULL, problem TEXT NOT NULL, key TEXT, row TEXT NOT NULL,
    PRIMARY KEY (learner, problem)
)
"""


class Results:
    """A RESULTS folder, open for writing; `close` writes what is made from the rows."""

    def __init__(self, folder: Path) -> None:
        """Opens or makes it; UsageError where something else is in its place."""
        self.folder = folder
        others = [] if not folder.exists() else [*_names(folder)]
        if others and "state.sqlite" not in others:
            raise UsageError(
                f"{folder}: is there already and holds no results; choose another --out"
            )
        try:
            (folder / "scores").mkdir(parents=True, exist_ok=True)
            for partial in (*folder.glob(".grade-*.tmp"), *folder.glob("scores/.grade-*.tmp")):
                partial.unlink()  # of a batch that was killed while it wrote
            self._rows = sqlite3.connect(folder / "state.sqlite", isolation_level=None)
            self._rows.execute("PRAGMA journal_mode=WAL")
            self._rows.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{folder}: cannot be used for results ({error})") from None

    def manifest(self) -> dict[str, Any] | None:
        """The manifest of an earlier run; None where there is none that can be read."""
        try:
            found = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and found.get("format") == FORMAT else None

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Replaces the manifest."""
        text = json.dumps({"format": FORMAT, **manifest}, indent=2, ensure_ascii=True)
        score_file.write(self.folder / "manifest.json", text + "\n")

    def known(self, learner: str, problem: str | None, key: str) -> Row | None:
        """The row of exactly this grading, if it was made before and its score is still there."""
        found = self._rows.execute(
            "SELECT row FROM rows WHERE learner = ? AND problem = ? AND key = ?",
            (learner, problem or "", key),
        ).fetchone()
        row = Row(**json.loads(found[0])) if found else None
        if row is None or row.status != "graded" or not row.score_file:
            return None
        return row if (self.folder / row.score_file).is_file() else None

    def add(self, row: Row, report: Report | FaultReport | None = None) -> None:
        """Keeps a row, with its score document first."""
        if report is not None and row.score_file:
            score_file.write(self.folder / row.score_file, to_json(report))
        self._rows.execute(
            "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)",
            (row.learner, row.problem or "", row.key, json.dumps(asdict(row))),
        )

    def keep_only(self, present: Iterable[tuple[str, str | None]]) -> None:
        """Forgets whoever is no longer in the class, and their score documents."""
        kept = {(learner, problem or "") for learner, problem in present}
        for row in [*self.rows()]:
            if (row.learner, row.problem or "") not in kept:
                self._rows.execute(
                    "DELETE FROM rows WHERE learner = ? AND problem = ?",
                    (row.learner, row.problem or ""),
                )
        named = {row.score_file for row in self.rows()}
        for path in (self.folder / "scores").iterdir():
            if f"scores/{path.name}" not in named:
                path.unlink()

    def rows(self) -> Iterator[Row]:
        """Every row, by learner and problem."""
        for (text,) in self._rows.execute("SELECT row FROM rows ORDER BY learner, problem"):
            yield Row(**json.loads(text))

    def write_tables(self) -> None:
        """Makes results.jsonl and grades.csv anew from the rows."""
        lines, table = io.StringIO(), io.StringIO()
        sheet = csv.writer(table)
        sheet.writerow(_COLUMNS)
        for row in self.rows():
            facts = asdict(row)
            lines.write(json.dumps(facts, ensure_ascii=True) + "\n")
            sheet.writerow([_cell(facts[name]) for name in _COLUMNS])
        score_file.write(self.folder / "results.jsonl", lines.getvalue())
        # A byte order mark: without it spreadsheets take the names for another encoding.
        score_file.write(self.folder / "grades.csv", f"\ufeff{table.getvalue()}")

    def close(self) -> None:
        """Writes the tables and closes the state."""
        self.write_tables()
        with contextlib.suppress(sqlite3.Error):
            self._rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._rows.close()


def score_name(learner: str, problem: str) -> str:
    """A file name for a score: readable, legal everywhere, and no two learners' are alike."""
    readable = re.sub(r"[^\w.-]+", "_", learner).strip("._") or "learner"
    short = readable.encode()[:80].decode("utf-8", "ignore")
    digest = hashlib.sha256(f"{learner}\0{problem}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"scores/{short}--{problem}-{digest[:8]}.json"


def _cell(value: Any) -> Any:
    """A value for a spreadsheet, which takes text with certain beginnings for a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value


def _names(folder: Path) -> Iterator[str]:
    try:
        yield from (path.name for path in folder.iterdir())
    except OSError as error:
        raise UsageError(f"{folder}: cannot be used for results ({error.strerror})") from None
