"""What may lie in a folder for results before a script has written any."""

from __future__ import annotations

import os
from pathlib import Path

OLD = '{"score": 999, "status": "pass"}'
# Each by the name of something that a script makes there.
KINDS = ("a link", "a folder", "a pipe", "a link to the result", "a killed grading")


def plant(what: str, results: Path, elsewhere: Path) -> Path:
    """Puts it there; a file that must stay as it is, with the text "mine"."""
    spared = elsewhere / "spared"
    spared.write_text("mine", encoding="utf-8")
    new, old = results / ".results-new", results / "results.json"
    match what:
        case "a link":
            new.symlink_to(spared)
        case "a folder":
            (new / "deep").mkdir(parents=True)
        case "a pipe":
            os.mkfifo(new)
        case "a link to the result":
            old.write_text(OLD, encoding="utf-8")
            new.symlink_to(old)
        case "a killed grading":
            (results / ".grade-abcdef").mkdir()
            (results / ".grade-abcdef/results.json").write_text(OLD, encoding="utf-8")
    return spared
