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
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from grader import score_file
from grader.batch.row import Row
from grader.batch.row import read as read_row
from grader.faults import UsageError
from grader.report import FaultReport, Report, to_json

FORMAT = 1

_COLUMNS = (
    "learner", "problem", "score", "max_score", "verdict", "status", "likely_cause", "reason",
)  # fmt: skip
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    learner TEXT NOT NULL, problem TEXT NOT NULL, key TEXT, row TEXT NOT NULL, document TEXT,
    PRIMARY KEY (learner, problem)
)
"""
_OURS = 0x67726164  # how a state.sqlite says that it is one of these
_NAMES = {
    "manifest.json", "scores", "results.jsonl", "grades.csv", "report.html", "state.sqlite",
    "state.sqlite-wal", "state.sqlite-shm", ".lock",
}  # fmt: skip
_PARTIAL = re.compile(r"\.grade-[0-9a-f]+\.tmp")
_SCORE_NAME = re.compile(r".+--[A-Za-z0-9_.-]+-[0-9a-f]{32}\.json")

Graded = tuple[Row, str | None]  # a row, and the hash of its score document


class Results:
    """A RESULTS folder, open for writing; `close` writes what is made from the rows."""

    def __init__(self, folder: Path) -> None:
        """Opens or makes it; UsageError where something else is in its place, or another batch
        writes there now."""
        self.folder = folder
        self._refuse_strangers()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Not through a link, and without waiting for whoever reads a pipe.
            flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
            self._lock = os.fdopen(os.open(folder / ".lock", flags, 0o666), "w")
        except OSError as error:
            raise UsageError(f"{folder}: cannot be used for results ({error.strerror})") from None
        self._rows: sqlite3.Connection
        try:
            self._hold()
            self._rows = sqlite3.connect(folder / "state.sqlite", isolation_level=None)
            self._open_state()
            (folder / "scores").mkdir(exist_ok=True)
            for partial in (*folder.glob(".grade-*.tmp"), *folder.glob("scores/.grade-*.tmp")):
                partial.unlink(missing_ok=True)  # of a batch that was killed while it wrote
        except (OSError, sqlite3.Error) as error:
            if hasattr(self, "_rows"):
                self._rows.close()
            self._lock.close()
            raise UsageError(
                f"{folder}: cannot be used for results ({error}); choose another --out"
            ) from None

    def _refuse_strangers(self) -> None:
        """UsageError where the folder holds anything that is not of a batch."""
        names = {*_names(self.folder)} if self.folder.exists() else set()
        own = all(name in _NAMES or _PARTIAL.fullmatch(name) for name in names)
        linked = (self.folder / "scores").is_symlink()
        if not own or linked or ("scores" in names and not (self.folder / "scores").is_dir()):
            raise UsageError(
                f"{self.folder}: is there already and holds no results; choose another --out"
            )

    def _hold(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError("another batch is writing there now") from None

    def _open_state(self) -> None:
        [(owner,)] = self._rows.execute("PRAGMA application_id")
        tables = [name for (name,) in self._rows.execute("SELECT name FROM sqlite_master")]
        if owner != _OURS and tables:
            raise OSError("its state.sqlite is not one of a batch")
        self._rows.execute("PRAGMA journal_mode=WAL")
        # Whatever is killed, no row is lost; a machine that loses its power may lose the last.
        self._rows.execute("PRAGMA synchronous=NORMAL")
        self._rows.execute(f"PRAGMA application_id={_OURS}")
        self._rows.execute(_SCHEMA)

    def manifest(self) -> dict[str, Any] | None:
        """The manifest of an earlier run; None where there is none that can be read."""
        try:
            found = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) and found.get("format") == FORMAT else None

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Replaces the manifest."""
        text = json.dumps({"format": FORMAT, **manifest}, indent=2, ensure_ascii=True)
        score_file.write(self.folder / "manifest.json", text + "\n")

    def known(self, learner: str, problem: str | None, key: str) -> Graded | None:
        """The row of exactly this grading, if its score document is still there as it was."""
        found = self._rows.execute(
            "SELECT row, document FROM rows WHERE learner = ? AND problem = ? AND key = ?",
            (learner, problem or "", key),
        ).fetchone()
        kept = _read(found[0]) if found else None
        if kept is None or kept.status != "graded" or not kept.score_file:
            return None
        try:
            document = (self.folder / kept.score_file).read_bytes()
        except OSError:
            return None
        same = hashlib.sha256(document).hexdigest() == found[1]
        return (kept, found[1]) if same else None

    def begin(self, kept: Iterable[Graded]) -> None:
        """Forgets every row but these, with its score document, and writes the tables.

        From here on nothing in the folder is of another run than the one that begins.
        """
        rows = [*kept]
        with self._transaction():
            self._rows.execute("DELETE FROM rows")
            for row, document in rows:
                self._insert(row, document)
        named = {row.score_file for row, _ in rows}
        for path in (self.folder / "scores").iterdir():
            made_here = _SCORE_NAME.fullmatch(path.name) and path.is_file()
            if made_here and f"scores/{path.name}" not in named:
                path.unlink(missing_ok=True)
        self.write_tables()

    def add(self, row: Row, report: Report | FaultReport) -> None:
        """Keeps a row, with its score document first."""
        assert row.score_file is not None
        text = to_json(report)
        score_file.write(self.folder / row.score_file, text)
        self._insert(row, hashlib.sha256(text.encode()).hexdigest())

    def rows(self) -> Iterator[Row]:
        """Every row, by learner and problem."""
        for (text,) in self._rows.execute("SELECT row FROM rows ORDER BY learner, problem"):
            if (found := _read(text)) is not None:
                yield found

    def write_tables(self) -> None:
        """Makes results.jsonl and grades.csv anew from the rows."""
        with (
            score_file.replacing(self.folder / "results.jsonl") as lines,
            score_file.replacing(self.folder / "grades.csv") as table,
        ):
            # A byte order mark: without it spreadsheets take the names for another encoding.
            table.write("\ufeff")
            # Every cell in quotes: where a semicolon parts cells, one that holds it stays one.
            sheet = csv.writer(table, quoting=csv.QUOTE_ALL)
            sheet.writerow(_COLUMNS)
            for row in self.rows():
                facts = asdict(row)
                lines.write(json.dumps(facts, ensure_ascii=True) + "\n")
                sheet.writerow([_cell(facts[name]) for name in _COLUMNS])

    def close(self) -> None:
        """Writes the tables and closes the state."""
        try:
            with contextlib.suppress(sqlite3.Error):  # whoever used it before was told
                self.write_tables()
        finally:
            with contextlib.suppress(sqlite3.Error):
                self._rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._rows.close()
            self._lock.close()

    def _insert(self, row: Row, document: str | None) -> None:
        self._rows.execute(
            "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)",
            (row.learner, row.problem or "", row.key, json.dumps(asdict(row)), document),
        )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._rows.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._rows.execute("ROLLBACK")
            raise
        self._rows.execute("COMMIT")


def score_name(learner: str, problem: str) -> str:
    """A file name for a score: readable, legal everywhere, and no two learners' are alike."""
    readable = re.sub(r"[^\w.-]+", "_", learner).strip("._") or "learner"
    short = readable.encode()[:64].decode("utf-8", "ignore")
    digest = hashlib.sha256(f"{learner}\0{problem}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"scores/{short}--{problem}-{digest[:32]}.json"


def _cell(value: Any) -> Any:
    """A value for a spreadsheet, which takes text with certain beginnings for a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value


def _read(text: str) -> Row | None:
    """A row as it is kept; None where it was changed by hand, so that it is graded again."""
    try:
        fields = json.loads(text)
        return replace(read_row(fields), key=fields.get("key"))
    except (ValueError, RecursionError):
        return None


def _names(folder: Path) -> Iterator[str]:
    try:
        yield from (path.name for path in folder.iterdir())
    except OSError as error:
        raise UsageError(f"{folder}: cannot be used for results ({error.strerror})") from None
