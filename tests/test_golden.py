"""The exact bytes of every result format, for reports of every kind.

`tests/golden/<case>/report.json` is a score document (`grade run --json`); beside it lies what each
format makes of it. Where that is meant to change, and with a new case,

    GRADER_ACCEPT_GOLDEN=1 python -m pytest tests/test_golden.py

writes the files anew, and the change of them is part of the commit.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader import export
from tests import exports

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/report.json"))
FILES = {
    "text": "screen.txt",
    "json": "report.json",
    "html": "page.html",
    "gradescope": "gradescope.json",
    "prairielearn": "prairielearn.json",
    "exercism": "exercism.json",
    "github": "github.txt",
    "step_summary": "step_summary.md",
    "classroom": "classroom.txt",
    "classroom50": "classroom50.json",
    "junit": "junit.xml",
}
RUNNER = {
    "CLASSROOM": "ml",
    "ASSIGNMENT": "verify",
    "SUBMISSION_TAG": "submit/2026-11-29T17-51-03Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/c",
    "RELEASE_URL": "https://example.org/r",
}


def rendered(case: str, name: str) -> str:
    document = json.loads((GOLDEN / case / "report.json").read_text(encoding="utf-8"))
    return export.render(name, exports.read_document(document), RUNNER)


@pytest.mark.parametrize("name", exports.FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_a_format_is_as_it_was_accepted(case, name):
    """Not a byte of a result changes by accident; and each is what its platform takes."""
    text, path = rendered(case, name), GOLDEN / case / FILES[name]
    exports.read(name, text)
    if os.environ.get("GRADER_ACCEPT_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    with path.open(encoding="utf-8", newline="") as file:
        assert text.split("\n") == file.read().split("\n")


@pytest.mark.parametrize("case", CASES)
def test_a_case_holds_every_format_and_nothing_else(case):
    """A file that no format writes is never compared."""
    assert sorted(path.name for path in (GOLDEN / case).iterdir()) == sorted(FILES.values())


def test_one_submission_is_worth_the_same_everywhere():
    """6 of 9 points, of them 2 of 5 public ones: each format in its own words."""
    found = {name: exports.read(name, rendered("partial", name)) for name in exports.FORMATS}
    assert found["gradescope"]["score"] == 6
    assert found["gradescope"]["output"].startswith(
        "verify: 2 of 5 public points. "
        "A hidden check worth 4 points is shown when grades are published."
    )
    assert found["prairielearn"]["score"] == 6 / 9
    assert found["prairielearn"]["message"].startswith("6 of 9 points\n")
    assert [row["status"] for row in found["exercism"]["tests"]] == ["pass", "fail", "pass"]
    assert [row["score"] for row in found["classroom"]["tests"]] == [2, 0, 4]
    assert (found["classroom50"]["score"], found["classroom50"]["max-score"]) == (6, 9)
    assert found["github"][-2:] == [
        ("notice", {"title": "Autograding complete"}, "Points 6/9"),
        ("notice", {"title": "Autograding report"}, '{"totalPoints":6,"maxPoints":9}'),
    ]
    assert [[child.tag for child in case][1:] for case in found["junit"]] == [[], ["failure"], []]
    assert found["step_summary"].startswith("### verify: 6 of 9 points\n")
    assert "6 " in found["html"].of("p")
    assert "Score:        6 of 9\n" in found["text"]
