"""A class at once: what is graded and what is not, what is kept, and what goes on after a stop."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits_found
from grader import submission_file
from grader.batch.results import Results, score_name
from grader.batch.row import Row
from grader.faults import UsageError
from grader.lanes import Job, Lanes
from grader.report import FaultReport, Report
from tests import kits

RIGHT = kits.RIGHT
WRONG = "def plus_one(number):\n    return number + 2\n"
SLOW = "import time\n\ndef plus_one(number):\n    time.sleep(0.4)\n    return number + 1\n"


@pytest.fixture(name="tiny")
def _tiny(tmp_path: Path) -> kits.TinyKit:
    return kits.write_kit(tmp_path / "kit")


@pytest.fixture(name="hand_in")
def _hand_in(tmp_path: Path) -> Callable[..., Path]:
    """A class folder with a folder for each learner: name=text of their file."""

    def hand_in(**files: str) -> Path:
        place = tmp_path / "class"
        for learner, text in files.items():
            folder = place / learner.replace("_", " ")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "answer.py").write_text(text, encoding="utf-8")
        return place

    return hand_in


@pytest.fixture(name="batch")
def _batch(grade: Any, tiny: kits.TinyKit) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`grade batch` on the tiny kit."""

    def batch(place: Path, out: Path, *options: object) -> subprocess.CompletedProcess[str]:
        words = ["--kit", tiny.root, "batch", place, "--out", out, "--problem", tiny.slug]
        done: subprocess.CompletedProcess[str] = grade(*words, *options)
        return done

    return batch


def rows(out: Path) -> dict[str, dict[str, Any]]:
    """The rows of a RESULTS folder by learner."""
    lines = (out / "results.jsonl").read_text("utf-8").splitlines()
    return {row["learner"]: row for row in map(json.loads, lines)}


def timeless(out: Path) -> dict[str, Any]:
    """Rows and score documents without what differs between two equal runs."""
    found: dict[str, Any] = {}
    for learner, row in rows(out).items():
        document = {}
        if row["score_file"]:
            document = json.loads((out / row["score_file"]).read_text("utf-8"))
            for name in ("started_at", "seconds"):
                document.pop(name)
            for check in document["checks"]:
                check.pop("seconds")
        found[learner] = ({**row, "seconds": None}, document)
    return found


def test_every_learner_has_a_row_and_every_graded_one_a_score(
    batch, hand_in, tmp_path, valid_score
):
    """Graded, unreadable and missing learners are rows with a status; scores are legal."""
    place = hand_in(ann=RIGHT, bob=WRONG, Zoë_de_Vries=RIGHT)
    (place / "carl").mkdir()
    (place / "dora").mkdir()
    (place / "dora" / "answer.py").write_bytes(b"\xff\xfex")

    done = batch(place, tmp_path / "R")

    found = rows(tmp_path / "R")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 graded, 1 missing, 1 unreadable; 3 of them now")
    assert {name: (row["status"], row["score"]) for name, row in found.items()} == {
        "Zoë de Vries": ("graded", 7),
        "ann": ("graded", 7),
        "bob": ("graded", 0),
        "carl": ("missing", None),
        "dora": ("unreadable", None),
    }
    assert "UTF-16" in found["dora"]["reason"]
    for row in found.values():
        if row["score_file"]:
            document = valid_score((tmp_path / "R" / row["score_file"]).read_text("utf-8"))
            assert document["score"] == row["score"]
    manifest = json.loads((tmp_path / "R" / "manifest.json").read_text("utf-8"))
    assert (manifest["format"], manifest["class"]) == (1, "class")
    assert manifest["finished_at"]
    table = csv.DictReader(io.StringIO((tmp_path / "R" / "grades.csv").read_text("utf-8-sig")))
    assert [line["learner"] for line in table] == [*found]


def test_a_score_of_a_batch_is_that_of_a_single_run(batch, hand_in, grade, tiny, tmp_path):
    """Grading a file in a batch and by itself gives the same document, times aside."""
    place = hand_in(ann=WRONG)
    batch(place, tmp_path / "R", "--seed", 3)
    alone = tmp_path / "alone.json"

    file = place / "ann" / "answer.py"
    grade("--kit", tiny.root, "run", file, "--problem", tiny.slug, "--json", alone, "--seed", 3)

    [(_, document)] = timeless(tmp_path / "R").values()
    expected = json.loads(alone.read_text("utf-8"))
    for name in ("started_at", "seconds"):
        expected.pop(name)
    for check in expected["checks"]:
        check.pop("seconds")
    assert document == expected


def test_a_second_run_grades_what_changed_and_forgets_who_left(batch, hand_in, tmp_path):
    """Only an edited file is graded again; a learner who is gone has neither row nor score."""
    out = tmp_path / "R"
    place = hand_in(ann=RIGHT, bob=WRONG, carl=WRONG)
    batch(place, out)
    first = rows(out)

    hand_in(bob=RIGHT)
    (place / "carl" / "answer.py").unlink()
    (place / "carl").rmdir()
    done = batch(place, out)

    second = rows(out)
    assert "1 of them now" in done.stdout
    assert second["ann"] == first["ann"]
    assert (second["bob"]["score"], [*second]) == (7, ["ann", "bob"])
    scores = {f"scores/{path.name}" for path in (out / "scores").iterdir()}
    assert scores == {row["score_file"] for row in second.values()}


@pytest.mark.parametrize("options", [["--fresh"], ["--seed", "77"]])
def test_what_a_result_depends_on_makes_it_new(batch, hand_in, tmp_path, options):
    """With another seed, or where it is asked for, everything is graded again."""
    place, out = hand_in(ann=RIGHT, bob=WRONG), tmp_path / "R"
    batch(place, out, "--seed", "5")

    assert "; 0 of them now" in batch(place, out).stdout
    assert "; 2 of them now" in batch(place, out, *options).stdout


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_batch_that_is_stopped_goes_on_and_ends_the_same(
    grade, batch, hand_in, tiny, tmp_path, blow
):
    """Stopped at any moment, nothing is half written, and the next run ends as one in one go."""
    place = hand_in(**{f"learner{n}": SLOW if n % 2 else WRONG for n in range(8)})
    words = ["--kit", tiny.root, "batch", place, "--problem", tiny.slug, "--seed", 9, "--jobs", 2]
    whole, out = tmp_path / "whole", tmp_path / "R"
    grade(*words, "--out", whole)
    started = subprocess.Popen(
        grade.argv(*words, "--out", out),
        cwd=grade.folder,
        env=grade.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # A shell's background jobs ignore Ctrl-C, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    _until(lambda: out.is_dir() and len([*out.glob("scores/*.json")]) >= 2)
    started.send_signal(blow)
    _, told = started.communicate(timeout=30)
    kept = [*out.glob("scores/*.json")]
    for path in kept:
        assert json.loads(path.read_text("utf-8"))["schema_version"] == 1

    done = batch(place, out, "--jobs", "2")

    assert started.returncode == (130 if blow == signal.SIGINT else -blow)
    if blow == signal.SIGINT:
        assert b"Stopped. What was graded is kept" in told
    assert 2 <= len(kept) < 8
    now = int(done.stdout.partition("; ")[2].split()[0])
    assert now <= 8 - len(kept) + 1  # at most the one whose row was not there yet is made again
    assert timeless(out) == timeless(whole)
    assert not [*out.rglob(".grade-*")]


def test_results_are_not_written_over_something_else(batch, hand_in, tmp_path):
    """A folder that holds other things is refused, and left as it is."""
    place = hand_in(ann=RIGHT)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")

    done = batch(place, tmp_path / "mine")

    assert done.returncode == 2
    assert "is there already and holds no results; choose another --out" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_table_holds_no_formulas(tmp_path):
    """What a spreadsheet would compute is text there."""
    results = Results(tmp_path / "R")
    names = ("=1+1", "+2", "-3", "@sum", "plain", "a;=1+1")
    rows = [Row(name, "p", None, None, "missing", "=HYPERLINK(1)") for name in names]
    results.begin((row, None) for row in rows)
    results.close()

    table = (tmp_path / "R" / "grades.csv").read_text("utf-8-sig")

    lines = [*csv.reader(io.StringIO(table))][1:]
    assert [line[0] for line in lines] == ["'+2", "'-3", "'=1+1", "'@sum", "a;=1+1", "plain"]
    assert {line[-1] for line in lines} == {"'=HYPERLINK(1)"}
    assert '"a;=1+1","p"' in table  # in quotes, where another program parts cells by semicolons


def test_score_files_have_names_that_no_two_learners_share():
    """Names are legal on any disk, not too long, and differ where learners differ in case alone."""
    learners = ["ann", "Ann", "a/b", "a\\b", "../up", "x" * 300, "Zoë", "", "CON", "ann (2)"]

    names = [score_name(learner, "verify") for learner in learners]

    assert len({name.lower() for name in names}) == len(learners)
    assert all(len(Path(name).name.encode()) < 120 for name in names)
    assert all(name.startswith("scores/") and ".." not in name for name in names)
    assert all("/" not in name.removeprefix("scores/") for name in names)


def test_a_folder_that_only_looks_like_results_is_left_alone(batch, hand_in, tmp_path):
    """Somebody else's database, a linked folder of scores, a stray file: refused and untouched."""
    place = hand_in(ann=RIGHT)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work", encoding="utf-8")
    for name in ("database", "linked", "stray"):
        (tmp_path / name).mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "database" / "state.sqlite")) as other:
        other.execute("CREATE TABLE photos (name TEXT)")
    (tmp_path / "linked" / "scores").symlink_to(mine)
    (tmp_path / "stray" / "notes.txt").touch()

    for name in ("database", "linked", "stray"):
        done = batch(place, tmp_path / name)

        assert (done.returncode, done.stdout) == (2, ""), name
        assert "choose another --out" in done.stderr
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]


def test_a_start_that_was_killed_at_once_can_be_made_again(batch, hand_in, tmp_path):
    """A folder in which nothing but empty beginnings lie is taken for results."""
    (tmp_path / "R" / "scores").mkdir(parents=True)
    (tmp_path / "R" / ".grade-0123456789ab.tmp").touch()

    assert batch(hand_in(ann=RIGHT), tmp_path / "R").returncode == 0


def test_two_batches_do_not_write_into_one_folder(batch, hand_in, tmp_path):
    """While one batch writes, another into the same folder is refused."""
    results = Results(tmp_path / "R")

    done = batch(hand_in(ann=RIGHT), tmp_path / "R")

    results.close()
    assert done.returncode == 2
    assert "another batch is writing there now" in done.stderr


def test_results_inside_the_class_are_refused(batch, hand_in):
    """Results that lie in the class would be a learner of the next run."""
    place = hand_in(ann=RIGHT)

    done = batch(place, place / "results")

    assert done.returncode == 2
    assert "inside the class that is graded; choose an --out beside it" in done.stderr


def test_a_changed_score_document_is_made_anew(batch, hand_in, tmp_path):
    """A score that was edited, emptied or removed is graded again by the same command."""
    out = tmp_path / "R"
    place = hand_in(ann=RIGHT, bob=RIGHT, carl=RIGHT, dora=RIGHT)
    batch(place, out)
    first = timeless(out)
    files = [out / row["score_file"] for row in rows(out).values()]
    files[0].write_text(files[0].read_text("utf-8").replace("7", "6"), encoding="utf-8")
    files[1].write_text("", encoding="utf-8")
    files[2].unlink()

    done = batch(place, out)

    assert "; 3 of them now" in done.stdout
    assert timeless(out) == first


def test_a_damaged_state_is_told_or_graded_anew(batch, hand_in, tmp_path):
    """A row that cannot be read is graded again; a file that is no database is told."""
    out, place = tmp_path / "R", hand_in(ann=RIGHT, bob=RIGHT)
    batch(place, out)
    with contextlib.closing(sqlite3.connect(out / "state.sqlite")) as state:
        state.execute("UPDATE rows SET row = '{\"x\": 1}' WHERE learner = 'ann'")
        state.commit()

    assert "; 1 of them now" in batch(place, out).stdout
    (out / "state.sqlite").write_bytes(b"nothing of the kind" * 400)
    done = batch(place, out)
    assert done.returncode == 2
    assert "cannot be used for results (file is not a database)" in done.stderr


def test_nothing_of_an_earlier_run_stands_under_a_new_one(grade, batch, hand_in, tiny, tmp_path):
    """A run that is stopped has rows of its own alone: what has changed is gone, not stale."""
    out = tmp_path / "R"
    names = [f"learner{n}" for n in range(6)]
    place = hand_in(**dict.fromkeys(names, RIGHT))
    batch(place, out, "--seed", "3")
    hand_in(**dict.fromkeys(names, SLOW.replace("+ 1", "+ 2")))
    words = ["--kit", tiny.root, "batch", place, "--out", out, "--problem", tiny.slug]
    started = subprocess.Popen(
        grade.argv(*words, "--seed", 4, "--jobs", 1),
        cwd=grade.folder,
        env=grade.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _until(lambda: json.loads((out / "manifest.json").read_text("utf-8"))["seed"] == 4)
    started.kill()
    started.wait()

    assert {row["score"] for row in rows(out).values()} <= {0}
    assert len([*(out / "scores").iterdir()]) < len(names)


def test_a_score_names_its_own_learners_file(batch, tmp_path):
    """Two learners with the same bytes each have their own file's name in their score."""
    place = tmp_path / "class"
    place.mkdir()
    for name in ("ann", "bob"):
        (place / f"{name}_answer.py").write_text(RIGHT, encoding="utf-8")

    batch(place, tmp_path / "R")

    told = {
        json.loads((tmp_path / "R" / row["score_file"]).read_text("utf-8"))["submission"]["file"]
        for row in rows(tmp_path / "R").values()
    }
    assert told == {"ann_answer.py", "bob_answer.py"}


def test_a_table_that_was_edited_steers_no_terminal(batch, hand_in, grade, tmp_path):
    """`grade diff` shows what it reads on one line each, without codes and commands."""
    batch(hand_in(ann=RIGHT), tmp_path / "A")
    shutil.copytree(tmp_path / "A", tmp_path / "B")
    table = tmp_path / "B" / "results.jsonl"
    row = json.loads(table.read_text("utf-8"))
    row["learner"] = "\x1b[31m::error::a\n::warning::x"
    table.write_text(json.dumps(row) + "\n", encoding="utf-8")

    done = grade("diff", tmp_path / "A", tmp_path / "B")

    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    row["score"] = 10**400
    table.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert grade("report", tmp_path / "B").returncode == 2


def test_a_diff_tells_learners_and_checks(batch, hand_in, grade, tmp_path):
    """What a regrade changed is told by learner and check; exit code 1 where anything did."""
    place = hand_in(ann=RIGHT, bob=WRONG)
    batch(place, tmp_path / "A")
    hand_in(bob=RIGHT, carl=RIGHT)
    batch(place, tmp_path / "B")

    done = grade("diff", tmp_path / "A", tmp_path / "B")

    assert done.returncode == 1
    assert "bob  " in done.stdout
    assert ": 0 of 7, incorrect → 7 of 7, correct" in done.stdout
    assert "    test_thirteen: failed → passed" in done.stdout
    assert ": not in the class → 7 of 7, correct" in done.stdout
    same = grade("diff", tmp_path / "A", tmp_path / "A")
    assert (same.returncode, same.stdout) == (0, "nothing changed\n")


def test_a_report_is_one_page(batch, hand_in, grade, tmp_path):
    """`grade report` writes a page that names every learner."""
    batch(hand_in(ann=RIGHT, bob=WRONG), tmp_path / "R")

    done = grade("report", tmp_path / "R")

    page = (tmp_path / "R" / "report.html").read_text("utf-8")
    assert done.returncode == 0, done.stderr
    assert "ann" in page
    assert "bob" in page
    assert grade("report", tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("limit", "code", "told"),
    [
        ("-t 5", 2, "processor time is limited to 5 s here"),
        # More than is surely too little, and less than PyTorch with a submission.
        ("-v 1060000", 3, "Of the faults: address space is limited to 1035 MiB here"),
    ],
)
def test_a_limit_of_the_shell_is_told(grade, tiny, hand_in, tmp_path, limit, code, told):
    """A class is refused where it is surely too low; else it is told where there were faults."""
    place = hand_in(ann=RIGHT)
    words = ("--kit", tiny.root, "batch", place, "--out", tmp_path / "R", "--problem", tiny.slug)
    ran = grade.under_limit(limit, *words)
    assert (ran.returncode, told in ran.stderr) == (code, True), ran.stderr


def test_too_little_isolation_refuses_a_class(monkeypatch, hand_in, tiny, tmp_path):
    """Where there are no locks a class is graded on trust alone."""
    from grader.batch import grading
    from grader.worker import landlock, seccomp

    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(seccomp, "supported", lambda: False)
    plan = grading.Plan(problem=tiny.slug)

    with pytest.raises(UsageError, match="say --i-trust-these-files if you vouch for all"):
        grading.grade(
            kits_found.find(tiny.root), hand_in(ann=RIGHT), tmp_path / "R", plan, lambda *_: None
        )


# ---- lanes


def job(tiny: kits.TinyKit, file: Path, text: str) -> Job:
    file.write_text(text, encoding="utf-8")
    return Job(tiny.slug, submission_file.read(file), "torch", 1)


def test_a_lane_that_dies_is_replaced_and_its_file_graded_again(tiny, tmp_path):
    """A lane that is killed costs nothing but time."""
    with Lanes(kits_found.find(tiny.root), 1) as lanes:
        first = lanes.submit(job(tiny, tmp_path / "a.py", SLOW))
        _until(lambda: kits.workers(_lane_of(lanes)) != [])
        os.kill(_lane_of(lanes), signal.SIGKILL)
        second = lanes.submit(job(tiny, tmp_path / "b.py", RIGHT))

        reports = [first.result(60), second.result(60)]

    assert [report.score for report in reports if isinstance(report, Report)] == [7, 7]


def test_a_file_that_kills_two_lanes_is_told_and_the_next_is_graded(tiny, tmp_path):
    """After a second death the file is a fault of the kit, and the others are graded as ever."""
    with Lanes(kits_found.find(tiny.root), 1) as lanes:
        first = lanes.submit(job(tiny, tmp_path / "a.py", SLOW))
        for _ in range(2):
            _until(lambda: _lane_of(lanes) and kits.workers(_lane_of(lanes)) != [])
            victim = _lane_of(lanes)
            os.kill(victim, signal.SIGKILL)
            _until(lambda victim=victim: _lane_of(lanes) != victim or first.done())
        second = lanes.submit(job(tiny, tmp_path / "b.py", RIGHT))

        told, report = first.result(60), second.result(60)

    assert isinstance(told, FaultReport)
    assert "died, twice; this is a fault of the grader" in told.message
    assert isinstance(report, Report)
    assert report.passed


def _lane_of(lanes: Lanes) -> int:
    found = [lane._process.pid for lane in [*lanes._running]]
    return found[0] if found else 0


def _until(known: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not known():
        assert time.monotonic() < end, "this never came"
        time.sleep(0.02)


def test_names_that_look_alike_have_files_of_their_own():
    """No two learners share a score document, however their names were chosen."""
    pair = ["zed)(&$", "zed^$)%"]  # alike to a person, and in the first 32 bits of a digest
    assert len({score_name(name, "verify") for name in pair}) == 2
    assert all(len(name) < 200 for name in (score_name("ü" * 300, "verify"),))


def test_a_zygote_that_is_killed_costs_nothing_but_time(tiny, tmp_path):
    """The file that was being graded is tried once more, and the next ones are graded as ever."""
    with Lanes(kits_found.find(tiny.root), 1) as lanes:
        lanes.submit(job(tiny, tmp_path / "a.py", RIGHT)).result(60)
        zygotes = [p.pid for p in kits.processes() if " zygote " in f" {p.command} "]
        mine = [pid for pid in zygotes if _parent(pid) == _lane_of(lanes)]
        assert len(mine) == 1
        os.kill(mine[0], signal.SIGKILL)
        reports = [lanes.submit(job(tiny, tmp_path / f"{n}.py", RIGHT)).result(60) for n in "bcd"]

    assert [report.score for report in reports if isinstance(report, Report)] == [7, 7, 7]


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_pipe_in_the_place_of_the_lock_is_refused(batch, hand_in, tmp_path):
    """Nobody waits for whoever reads it."""
    (tmp_path / "R").mkdir()
    os.mkfifo(tmp_path / "R" / ".lock")
    ran = batch(hand_in(ann=RIGHT), tmp_path / "R")
    assert ran.returncode == 2, ran.stderr
    assert "cannot be used for results" in ran.stderr


def test_a_damaged_state_is_told(batch, hand_in, tmp_path):
    """A state.sqlite that cannot be read is told in words, with what to do."""
    place = hand_in(**{f"learner{n}": RIGHT + f"# {n}" for n in range(30)})
    assert batch(place, tmp_path / "R").returncode == 0
    state = tmp_path / "R" / "state.sqlite"
    data = state.read_bytes()
    state.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    ran = batch(place, tmp_path / "R")
    assert ran.returncode == 2, ran.stderr
    assert "state.sqlite" in ran.stderr
    assert "Traceback" not in ran.stderr
