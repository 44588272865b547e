"""`grader.Grader`, the door for programs: what it takes, what it tells, and what it leaves."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import grader
from grader.faults import KitFault, UsageError
from tests import kits

WRONG = "def plus_one(number):\n    return number + 2\n"


@pytest.fixture(name="tiny")
def _tiny(tmp_path: Path) -> kits.TinyKit:
    return kits.write_kit(tmp_path / "kit")


def test_text_bytes_and_files_are_graded(tiny, tmp_path):
    """A submission is given as its text, its bytes or its path, and gets the same score."""
    file = tmp_path / "mine.py"
    file.write_text(kits.RIGHT, encoding="utf-8")

    with grader.Grader(tiny.root) as door:
        reports = [
            door.grade(source, tiny.slug) for source in (kits.RIGHT, kits.RIGHT.encode(), file)
        ]

    assert [report.score for report in reports] == [7, 7, 7]
    assert [report.submission.file for report in reports] == ["submission.py"] * 2 + ["mine.py"]


def test_many_threads_may_grade_at_once(tiny):
    """Each thread gets the report on its own submission, whichever lane graded it."""
    with grader.Grader(tiny.root, lanes=2) as door, ThreadPoolExecutor(8) as threads:
        sources = [kits.RIGHT, WRONG] * 8
        scores = threads.map(lambda source: door.grade(source, tiny.slug).score, sources)

        assert [*scores] == [7, 0] * 8


def test_nothing_is_left_behind(tiny):
    """Once it is closed no process and no thread of it runs on."""
    before, threads = kits.descendants(), threading.active_count()

    with grader.Grader(tiny.root) as door:
        door.grade(kits.RIGHT, tiny.slug)
        made = kits.descendants() - before

    assert made
    end = time.monotonic() + 10  # the lane's own workers see it end, and follow
    while left := [p for p in kits.processes() if p.pid in made]:
        assert time.monotonic() < end, left
        time.sleep(0.05)
    assert threading.active_count() == threads


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (b"\xff\xfe", "submission.py: saved as UTF-16"),
        ("x" * 300_000, "submission.py: 300,000 bytes"),
        ("\ud800", "submission.py: not UTF-8"),
        (Path("/nowhere/at/all.py"), "no such file"),
    ],
)
def test_what_cannot_be_a_submission_is_refused(tiny, source, told):
    """A source that nobody could grade raises UsageError, and the next one is graded."""
    with grader.Grader(tiny.root) as door:
        with pytest.raises(UsageError, match=told):
            door.grade(source, tiny.slug)

        assert door.grade(kits.RIGHT, tiny.slug).passed


def test_what_the_kit_got_wrong_is_no_report(tmp_path):
    """A fault of the kit raises KitFault; an unknown problem raises UsageError."""
    broken = kits.write_kit(tmp_path / "broken", checks="raise RuntimeError\n")

    with grader.Grader(broken.root) as door:
        with pytest.raises(KitFault):
            door.grade(kits.RIGHT, broken.slug)
        with pytest.raises(UsageError, match="nowhere"):
            door.grade(kits.RIGHT, "nowhere")


def test_closing_ends_every_wait(tiny):
    """Whoever waits for a grading when the door is closed is told, and so is who comes later."""
    endless = "import time\n\ndef plus_one(number):\n    time.sleep(0.8)\n    return number + 1\n"
    door = grader.Grader(tiny.root)
    with ThreadPoolExecutor(3) as threads:
        waiting = [threads.submit(door.grade, endless, tiny.slug) for _ in range(3)]
        time.sleep(1)

        door.close()

        for each in waiting:
            with pytest.raises(UsageError, match="the lanes were closed before this was graded"):
                each.result(20)
    with pytest.raises(UsageError, match="the lanes were closed"):
        door.grade(kits.RIGHT, tiny.slug)


def test_a_lane_that_cannot_be_started_is_a_fault_and_no_endless_wait(tiny, monkeypatch):
    """Where no process can be started for a lane the grading says so."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")

    with grader.Grader(tiny.root) as door:
        with monkeypatch.context() as patch:
            patch.setattr("grader.lanes.subprocess.Popen", refused)
            with pytest.raises(KitFault, match="Too many open files"):
                door.grade(kits.RIGHT, tiny.slug)

        assert door.grade(kits.RIGHT, tiny.slug).passed


@pytest.mark.parametrize("options", [{"lanes": 0}, {"lanes": -1}, {"seed": -1}, {"seed": "x"}])
def test_options_that_mean_nothing_are_refused(tiny, options):
    """A number of lanes or a seed that cannot be is told at once."""
    with pytest.raises(UsageError):
        grader.Grader(tiny.root, **options)


def test_a_source_of_another_kind_is_refused(tiny):
    """What is neither text, bytes nor a path is told as that."""
    with grader.Grader(tiny.root) as door, pytest.raises(UsageError, match="not NoneType"):
        door.grade(None, tiny.slug)
