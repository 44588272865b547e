"""Which hints a learner has already read, kept between commands.

One small JSON file in the user's state folder: kit and problem to a count. It is a convenience, so
a file that is broken counts as none read, and one that cannot be written is only told.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from grader.kit import NAME


def state_file() -> Path:
    """Where the counts are kept for this user."""
    # Imported here: no other command needs it.
    import platformdirs

    return platformdirs.user_state_path(NAME) / "hints.json"


def read_count(path: Path, key: str) -> int:
    """How many hints of `key` have been read; 0 if nothing usable is kept."""
    count = _counts(path).get(key)
    return count if type(count) is int and count > 0 else 0


def write_count(path: Path, key: str, count: int) -> None:
    """Keep the count for `key`; OSError if the file cannot be written."""
    counts = _counts(path) | {key: count}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        partial.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _counts(path: Path) -> dict[str, object]:
    try:
        counts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return counts if type(counts) is dict else {}
