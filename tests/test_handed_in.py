"""A class as it was handed in: whose work is where, and what is told of the rest."""

from __future__ import annotations

import errno
import io
import os
import stat
import time
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader import submission_file
from grader.batch import handed_in, layouts, zips
from grader.batch.found import is_junk
from grader.batch.handed_in import Submission, source_group
from grader.faults import UsageError
from grader.submission_file import OutOfReach

SLUGS = ["step", "verify"]
CODE = "x = 1\n"


def folder(tmp_path: Path, *names: str, **contents: str) -> Path:
    """A folder `class` with files of these names; a name that ends in "/" is an empty folder."""
    place = tmp_path / "class"
    place.mkdir(exist_ok=True)
    for name in names:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text(CODE, encoding="utf-8")
    for name, text in contents.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def packed(tmp_path: Path, *names: str | tuple[str | zipfile.ZipInfo, str | bytes]) -> Path:
    """A zip file with entries of these names, in this order."""
    place = tmp_path / "class.zip"
    place.write_bytes(archive(*names))
    return place


def archive(*names: str | tuple[str | zipfile.ZipInfo, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            entry, data = (name, CODE) if isinstance(name, str) else name
            file.writestr(entry, data)
    return buffer.getvalue()


def rows(place: Path, problem: str | None = None) -> list[Submission]:
    return list(handed_in.read(place, SLUGS, problem))


def told(place: Path, problem: str | None = None) -> list[tuple[str, str | None, str | None, str]]:
    return [(row.learner, row.problem, row.file, row.status) for row in rows(place, problem)]


def only(place: Path, problem: str | None = None) -> Submission:
    [row] = rows(place, problem)
    return row


def refusal(place: Path) -> str:
    with pytest.raises(UsageError) as caught:
        handed_in.read(place, SLUGS)
    return str(caught.value)


# Folders ------------------------------------------------------------------------------------------


def test_a_folder_for_each_learner(tmp_path):
    """The folder's name is the learner's; a file for each problem is a row of its own."""
    place = folder(tmp_path, "ann/verify.py", "ann/step.py", "bo/sub/verify_mine.py")
    assert told(place) == [
        ("ann", "step", "step.py", "ready"),
        ("ann", "verify", "verify.py", "ready"),
        ("bo", "verify", "verify_mine.py", "ready"),
    ]


def test_a_submission_has_its_text_and_hash(tmp_path):
    """What is read is the file itself."""
    source = only(folder(tmp_path, "ann/verify.py")).source
    assert source is not None
    assert (source.name, source.text, source.size) == ("verify.py", CODE, len(CODE))


@pytest.mark.parametrize(
    "name", ["verify_ann.py", "verify-ann.py", "ann_verify.py", "ann--verify.py", "Ann Verify.py"]
)
def test_one_file_for_each_learner(tmp_path, name):
    """The learner is what is left of the name without the problem, before or after it."""
    learner, problem, _, status = told(folder(tmp_path, name))[0]
    assert (learner.casefold(), problem, status) == ("ann", "verify", "ready")


def test_files_named_after_the_learners_alone(tmp_path):
    """With a problem asked for, any name is a learner's, also the name of a library."""
    place = folder(tmp_path, "ann.py", "random.py", "torch.py", "zoë lee.py")
    assert told(place, "verify") == [
        ("ann", "verify", "ann.py", "ready"),
        ("random", "verify", "random.py", "ready"),
        ("torch", "verify", "torch.py", "ready"),
        ("zoë lee", "verify", "zoë lee.py", "ready"),
    ]


def test_files_of_one_learner_for_several_problems_are_one_learners(tmp_path):
    """`ann_verify.py` and `ann_step.py` are both ann's."""
    place = folder(tmp_path, "ann_verify.py", "ann_step.py")
    assert [row[:2] for row in told(place)] == [("ann", "step"), ("ann", "verify")]


def test_a_file_named_after_a_problem_alone_is_of_the_folders_name(tmp_path):
    """One's own folder is a class of one."""
    place = folder(tmp_path, "verify.py", "step.py")
    assert [row[:2] for row in told(place)] == [("class", "step"), ("class", "verify")]


def test_folders_and_files_may_be_mixed(tmp_path):
    """A learner is one learner in both."""
    place = folder(tmp_path, "ann/verify.py", "ann_step.py", "bo_verify.py")
    assert [row[:2] for row in told(place)] == [
        ("ann", "step"),
        ("ann", "verify"),
        ("bo", "verify"),
    ]


def test_the_folder_of_a_problem_tells_it_where_the_files_name_does_not(tmp_path):
    """`ann/verify/solution.py` is for `verify`; a file whose name says so comes first."""
    place = folder(tmp_path, "ann/verify/solution.py", "bo/verify-main/verify.py")
    (place / "bo/verify-main/helpers.py").touch()
    assert told(place) == [
        ("ann", "verify", "solution.py", "ready"),
        ("bo", "verify", "verify.py", "ready"),
    ]


@pytest.mark.parametrize(
    ("stem", "problem", "answer"),
    [
        ("verify", None, ("verify", "")),
        ("Verify", None, ("verify", "")),
        ("verify_ann-lee", None, ("verify", "ann-lee")),
        ("ann.lee.verify", None, ("verify", "ann.lee")),
        ("top-k_ann", None, ("top-k", "ann")),
        ("ann top_k", None, ("top-k", "ann")),
        ("top_ann", None, ("top", "ann")),
        ("verify_top", None, ("verify", "top")),
        ("verify_top", "top", ("top", "verify")),
        ("ann_verify (1)", None, ("verify", "ann (1)")),
        ("verify (1)", None, ("verify", "verify (1)")),
        ("Copy of verify", None, ("verify", "Copy of")),
        ("verifyann", None, (None, "verifyann")),
        ("my_verify_2", None, (None, "my_verify_2")),
        ("_", None, (None, "_")),
        ("", None, (None, "")),
        (" " * 60_000 + "(1", None, (None, " " * 60_000 + "(1")),
    ],
)
def test_what_a_name_tells(stem, problem, answer):
    """The problem, and what is left for the learner's name."""
    assert layouts.told(stem, ["top", "top-k", "verify"], problem) == answer


@pytest.mark.parametrize("name", ["solution.py", "torch.py", "random.py", "Main.PY"])
def test_a_lone_file_of_any_name_is_for_the_problem_asked_for(tmp_path, name):
    """A learner's folder with one Python file leaves no doubt."""
    assert told(folder(tmp_path, f"ann/{name}"), "verify") == [("ann", "verify", name, "ready")]


def test_helpers_and_tests_beside_a_named_file_are_not_candidates(tmp_path):
    """`verify.py` is the submission; what else lies there is the learner's own."""
    place = folder(tmp_path, "ann/verify.py", "ann/helpers.py", "ann/test_verify.py")
    (place / "ann" / "__init__.py").touch()
    assert told(place, "verify") == [("ann", "verify", "verify.py", "ready")]


@pytest.mark.parametrize(
    "junk",
    [
        "__MACOSX/ann/._verify.py",
        ".git/verify.py",
        "ann/._verify.py",
        "ann/.ipynb_checkpoints/verify.py",
        "ann/__pycache__/verify.py",
        "ann/venv/lib/site-packages/verify.py",
        "ann/notes.txt",
        "grades.csv",
        ".DS_Store",
        "ann/.DS_Store",
    ],
)
@pytest.mark.parametrize("kind", [folder, packed])
def test_junk_and_other_files_are_ignored(tmp_path, kind, junk):
    """What file managers and programs leave is nobody's work."""
    place = kind(tmp_path, "ann/verify.py", "bo/verify.py", junk)
    assert [row[0] for row in told(place)] == ["ann", "bo"]


# Two files, or none -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other", ["verify_final.py", "verify (1).py", "old/verify.py", "VERIFY.PY"]
)
@pytest.mark.parametrize("kind", [folder, packed])
def test_two_files_for_a_problem_are_ambiguous_and_both_named(tmp_path, kind, other):
    """Nobody guesses which one a learner meant."""
    row = only(kind(tmp_path, "ann/verify.py", f"ann/{other}"))
    assert (row.status, row.file, row.source) == ("ambiguous", None, None)
    assert row.reason.startswith("2 files for 'verify': ")
    assert "verify.py" in row.reason
    assert other in row.reason


def test_many_candidates_are_counted_and_some_named(tmp_path):
    """A reason stays short."""
    place = folder(tmp_path, *(f"ann/verify_{number}.py" for number in range(9)))
    reason = only(place).reason
    assert reason.startswith("9 files for 'verify': ")
    assert " and 4 more;" in reason


def test_the_other_problems_of_an_ambiguous_learner_are_ready(tmp_path):
    """Two versions of one thing say nothing about another."""
    place = folder(tmp_path, "ann/verify.py", "ann/verify_2.py", "ann/step.py")
    assert [row[1::2] for row in told(place)] == [("step", "ready"), ("verify", "ambiguous")]


@pytest.mark.parametrize(
    ("names", "problem", "reason"),
    [
        (["ann/"], None, "nothing was handed in"),
        (["ann/"], "verify", "nothing was handed in"),
        (["ann/verify.ipynb"], "verify", "no Python file, only verify.ipynb"),
        (["ann/step.py"], "verify", "no file for 'verify', only step.py"),
        (["ann_step.py"], "verify", "no file for 'verify', only ann_step.py"),
        (["ann/main.py"], None, "no name tells the problem (main.py); say --problem"),
        (["ann.py"], None, "no name tells the problem (ann.py); say --problem"),
    ],
)
def test_a_learner_without_a_file_is_missing_with_the_reason(tmp_path, names, problem, reason):
    """A row tells what was there instead."""
    row = only(folder(tmp_path, *names), problem)
    assert (row.learner, row.problem, row.status) == ("ann", problem, "missing")
    assert reason in row.reason


def test_a_problem_nobody_asked_for_is_not_missed(tmp_path):
    """Without a problem asked for, a learner is answerable for what is there."""
    assert [row[1] for row in told(folder(tmp_path, "ann/verify.py"))] == ["verify"]


# Files that cannot be read ------------------------------------------------------------------------


def unreadable(place: Path) -> str:
    row = only(place)
    assert (row.learner, row.status, row.source) == ("ann", "unreadable", None)
    assert str(place) not in row.reason
    assert "verify.py:" not in row.reason
    return row.reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = '\xe9'\n", "not UTF-8: byte 0xe9 on line 1"),
        ("x".encode("utf-16"), "saved as UTF-16"),
        (b"\0", "has a NUL byte on line 1"),
    ],
)
def test_what_is_no_text_is_unreadable_with_the_reason(tmp_path, data, reason):
    """The reason is that of a single file, without its place; in a zip file as in a folder."""
    place = folder(tmp_path, "ann/verify.py")
    (place / "ann/verify.py").write_bytes(data)
    assert reason in unreadable(place)
    assert reason in unreadable(packed(tmp_path, ("ann/verify.py", data)))


def test_a_file_that_is_too_large_is_unreadable(tmp_path):
    """A folder and a zip file have the same limit."""
    place = folder(tmp_path, "ann/verify.py")
    (place / "ann/verify.py").write_bytes(b"#" * (256 * 1024 + 1))
    assert unreadable(place).startswith("262,145 bytes; a submission may have 256 KiB")
    assert packed(tmp_path, ("ann/verify.py", b"#" * (256 * 1024)))
    assert only(tmp_path / "class.zip").status == "ready"


def test_a_link_out_of_the_learners_folder_is_unreadable(tmp_path):
    """Nobody hands in another's file."""
    place = folder(tmp_path, "ann/", "secret.txt")
    (place / "ann/verify.py").symlink_to(place / "secret.txt")
    assert "a link to a file outside its folder" in unreadable(place)


def test_a_link_that_leads_nowhere_is_told_without_a_place(tmp_path, monkeypatch):
    """A ring of links, and one to a file that is not there: no path of this machine is told."""
    place = folder(tmp_path, "ann/")
    monkeypatch.chdir(tmp_path)
    for target in ("verify.py", "gone.py", tmp_path / "class/ann/gone.py"):
        (place / "ann/verify.py").unlink(missing_ok=True)
        (place / "ann/verify.py").symlink_to(target)
        for each in (place, place.relative_to(tmp_path)):
            assert unreadable(each) == "a link that leads nowhere; hand in the file itself"


def test_a_link_beside_other_learners_files_is_unreadable(tmp_path):
    """It stays in its folder, and yet may lead to another's file."""
    place = folder(tmp_path, "bo_verify.py")
    (place / "ann_verify.py").symlink_to("bo_verify.py")
    ann, bo = rows(place)
    assert (ann.status, ann.reason) == ("unreadable", "a link; hand in the file itself")
    assert bo.status == "ready"


def test_a_pipe_is_unreadable_and_holds_nothing_up(tmp_path):
    """What is no ordinary file is told."""
    place = folder(tmp_path, "ann/")
    os.mkfifo(place / "ann/verify.py")
    assert "not an ordinary file" in unreadable(place)
    (place / "ann/verify.py").unlink()
    os.mkfifo(place / "ann/verify.zip")
    assert "not an ordinary file" in only(place).reason


def test_a_link_in_place_of_a_learners_folder_is_not_followed(tmp_path):
    """It may lead into another learner's work, so it is told instead."""
    place = folder(tmp_path, "bo/verify.py")
    (place / "ann").symlink_to(place / "bo")
    ann, bo = rows(place)
    assert (ann.learner, ann.status) == ("ann", "unreadable")
    assert "a link to a folder" in ann.reason
    assert bo.status == "ready"


def test_links_in_a_circle_are_not_followed(tmp_path):
    """A folder that holds a link to itself is read once."""
    place = folder(tmp_path, "ann/verify.py")
    (place / "ann/again").symlink_to(place)
    assert only(place).status == "ready"


def test_a_folder_that_cannot_be_looked_into_is_that_learners_row(tmp_path, monkeypatch):
    """The others are graded."""
    place = folder(tmp_path, "ann/verify.py", "bo/verify.py")
    look = os.scandir

    def scandir(path):
        if Path(path).name == "ann":
            raise PermissionError(13, "Permission denied")
        return look(path)

    monkeypatch.setattr(os, "scandir", scandir)
    ann, bo = rows(place)
    assert (ann.status, bo.status) == ("unreadable", "ready")
    assert "cannot be looked into (Permission denied)" in ann.reason


def test_a_file_that_is_gone_when_its_turn_comes_is_that_learners_row(tmp_path):
    """Files are read one after the other, while a class may still be copied."""
    place = folder(tmp_path, "ann/verify.py", "bo/verify.py")
    read = handed_in.read(place, SLUGS)
    assert next(read).status == "ready"
    (place / "bo/verify.py").unlink()
    assert "no such file" in next(read).reason


def test_bytes_have_the_limit_of_files():
    """The door for bytes is as narrow as that for files."""
    data = b"#" * (submission_file.MOST_BYTES + 1)
    with pytest.raises(UsageError, match="ann: 262,145 bytes; a submission may have 256 KiB"):
        submission_file.of_bytes("verify.py", data, "ann")


# Names --------------------------------------------------------------------------------------------


def test_learners_whose_names_differ_in_case_are_two(tmp_path):
    """`Ann` and `ann` are two learners, with one file name."""
    place = folder(tmp_path, "Ann/verify.py", "ann/verify.py")
    assert [row[0] for row in told(place)] == ["Ann", "ann"]


def test_names_that_are_shown_alike_are_numbered(tmp_path):
    """Composed and decomposed letters, or marks that are not shown, make no learner another's."""
    names = ["zoë", unicodedata.normalize("NFD", "zoë"), "zoë\u202e", "zoë (2)"]
    place = folder(tmp_path, *(f"{name}/verify.py" for name in names))
    assert [row[0] for row in told(place)] == ["zoë", "zoë (2)", "zoë (3)", "zoë (4)"]


def test_a_name_that_controls_a_terminal_is_cleaned(tmp_path):
    """Learners, files and reasons are safe to show."""
    place = folder(tmp_path, "a\x1b[31mnn\n/verify_\u202e\x07x.py", "bo/\x1b[2J.py")
    ann, bo = rows(place)
    assert (ann.learner, ann.file, ann.source.name) == ("ann", "verify_x.py", "verify_x.py")
    assert "(.py)" in bo.reason


def test_a_name_of_nothing_that_is_shown_still_has_a_row(tmp_path):
    """The learner is then called learner."""
    place = folder(tmp_path, "\u202e/verify.py", "\x01/verify.py")
    assert [row[0] for row in told(place)] == ["learner", "learner (2)"]


def test_a_name_of_255_bytes_is_kept(tmp_path):
    """The longest that a file system has."""
    name = "é" * 126 + "x"
    place = folder(tmp_path, f"{name}ab/verify.py", f"{'a' * 252}.py")
    assert sorted(row[0] for row in told(place, "verify"))[1] == f"{name}ab"
    assert len(rows(place, "verify")) == 2


def test_a_name_that_is_no_unicode_has_a_row(tmp_path):
    """Old archives unpack to names in another encoding."""
    place = folder(tmp_path, "bo/verify.py")
    os.mkdir(os.fsencode(place) + b"/zo\xeb")  # noqa: PTH102
    zoe = rows(place)[1]
    assert (zoe.learner, zoe.status) == ("zo", "missing")
    zoe.learner.encode()


# What course platforms export ---------------------------------------------------------------------

CANVAS = [
    "doejane_12345_67890_verify.py",
    "leeann_LATE_23456_67891_verify-1.py",
    "zoë_34567_67892_step.py",
]
MOODLE = [
    "Jane Doe_12345_assignsubmission_file_/verify.py",
    "Ann Lee_23456_assignsubmission_file/src/verify.py",
    "Zoë Ng_34567_assignsubmission_onlinetext_/onlinetext.html",
]
ROSTER = """---
submission_101:
  :submitters:
  - :name: Jane Doe
    :sid: '0123'
    :email: jane@example.org
  :created_at: 2026-11-30 02:52:07.938335000 Z
  :results:
    output: |-
      submission_102:
        :submitters:
        - :name: Mallory
  :history:
  - :submitters: []
    :id: 99
submission_102:
  :submitters:
  - :name: 'Ann O''Lee'
    :sid: '0124'
  - :name: "Zo\\u00eb: Ng"
    :sid: '0125'
  :history: []
submission_103:
  :submitters: []
"""


@pytest.mark.parametrize("kind", [folder, packed])
def test_canvas(tmp_path, kind):
    """`<name>[_LATE]_<user>_<upload>_<file>`: the file's name is the learner's own."""
    place = kind(tmp_path, *CANVAS)
    assert told(place, "verify") == [
        ("doejane", "verify", "verify.py", "ready"),
        ("leeann", "verify", "verify-1.py", "ready"),
        ("zoë", "verify", None, "missing"),
    ]


@pytest.mark.parametrize("kind", [folder, packed])
def test_canvas_keeps_two_learners_of_one_name_apart(tmp_path, kind):
    """By the number that Canvas gives them."""
    place = kind(tmp_path, "doejane_12_1_verify.py", "doejane_13_2_verify.py")
    assert [row[0] for row in told(place)] == ["doejane (12)", "doejane (13)"]


@pytest.mark.parametrize("kind", [folder, packed])
def test_canvas_numbers_uploads_of_one_name_and_the_last_is_taken(tmp_path, kind):
    """The reason tells which was taken before which."""
    names = ["verify.py", "verify-2.py", "verify-10.py"]
    row = only(kind(tmp_path, *(f"doe_LATE_12_{n}_{name}" for n, name in enumerate(names))))
    assert (row.status, row.file) == ("ready", "verify-10.py")
    assert row.reason.startswith(
        "verify-10.py is the newest of verify.py, verify-2.py, verify-10.py"
    )


def test_canvas_numbers_archives_too(tmp_path):
    """`work-1.zip` is newer than `work.zip`."""
    data = archive("verify.py"), archive(("verify.py", "x = 2\n"))
    names = ("doe_1_2_work.zip", "doe_1_3_work-1.zip")
    row = only(packed(tmp_path, *zip(names, data, strict=True)))
    assert row.reason.startswith("work-1.zip is the newest of work.zip, work-1.zip")
    assert row.source.text == "x = 2\n"


@pytest.mark.parametrize("other", ["verify_final.py", "verify_old-1.py", "verify.py"])
def test_canvas_says_nothing_of_files_of_other_names(tmp_path, other):
    """Only uploads of one name are numbered."""
    place = folder(tmp_path, "doe_12_1_verify.py", f"doe_12_2_{other}")
    assert only(place).status == "ambiguous"


def test_canvas_in_an_anonymous_course(tmp_path):
    """Learners are letters."""
    place = packed(tmp_path, "anon_aB3x_1_verify.py", "LATE_anon_c_2_verify.py")
    assert [row[0] for row in told(place)] == ["anon_aB3x", "anon_c"]


def test_canvas_with_something_else_handed_in(tmp_path):
    """A PDF or a text typed in the browser is a row, so that no learner is lost."""
    names = ["doe_1_2_verify.py", "lee_2_3_report.pdf", "ng_LATE_3_text.html"]
    assert [row[::3] for row in told(packed(tmp_path, *names))] == [
        ("doe", "ready"),
        ("lee", "missing"),
        ("ng", "missing"),
    ]


def test_a_number_at_the_end_is_no_version_outside_canvas(tmp_path):
    """`verify-1.py` beside `verify.py` may be anything."""
    place = folder(tmp_path, "ann/verify.py", "ann/verify-1.py")
    assert only(place).status == "ambiguous"


@pytest.mark.parametrize("kind", [folder, packed])
def test_moodle(tmp_path, kind):
    """A folder for each learner, of several kinds of submission, old and new."""
    assert told(kind(tmp_path, *MOODLE), "verify") == [
        ("Ann Lee", "verify", "verify.py", "ready"),
        ("Jane Doe", "verify", "verify.py", "ready"),
        ("Zoë Ng", "verify", None, "missing"),
    ]


@pytest.mark.parametrize("kind", [folder, packed])
def test_moodle_without_folders(tmp_path, kind):
    """The same names before the file's."""
    place = kind(
        tmp_path,
        "Jane Doe_12345_assignsubmission_file_verify.py",
        "Jane Doe_12345_assignsubmission_file_step.py",
        "Jane Doe_12345_assignsubmission_onlinetext_onlinetext.html",
        "Default group_assignsubmission_file_verify.py",
    )
    assert told(place) == [
        ("Default group", "verify", "verify.py", "ready"),
        ("Jane Doe", "step", "step.py", "ready"),
        ("Jane Doe", "verify", "verify.py", "ready"),
    ]


def test_moodle_with_blind_marking(tmp_path):
    """All are called Participant, and told apart by number."""
    names = (f"Participant_{n}_assignsubmission_file_/verify.py" for n in (7, 8))
    place = packed(tmp_path, *names)
    assert [row[0] for row in told(place)] == ["Participant (7)", "Participant (8)"]


@pytest.mark.parametrize("kind", [folder, packed])
@pytest.mark.parametrize("wrapper", ["assignment_1_export/", ""])
def test_gradescope(tmp_path, kind, wrapper):
    """Names come from the metadata; a submission of two is a row of each; text cannot add one."""
    place = kind(
        tmp_path,
        f"{wrapper}submission_101/verify.py",
        f"{wrapper}submission_102/verify.py",
        f"{wrapper}submission_104/verify.py",
    )
    if kind is folder:
        (place / wrapper / "submission_metadata.yml").write_text(ROSTER)
    else:
        with zipfile.ZipFile(place, "a") as file:
            file.writestr(f"{wrapper}submission_metadata.yml", ROSTER)
    assert [row[::3] for row in told(place)] == [
        ("Ann O'Lee", "ready"),
        ("Jane Doe", "ready"),
        ("Zoë: Ng", "ready"),
        ("submission_103", "missing"),
        ("submission_104", "ready"),
    ]


def test_gradescope_without_the_metadata(tmp_path):
    """The submission's number stands for the learner."""
    place = packed(tmp_path, "assignment_1_export/submission_12345/verify.py")
    assert told(place) == [("submission_12345", "verify", "verify.py", "ready")]


def test_gradescope_learners_of_one_name_are_told_apart_by_their_number(tmp_path):
    """The student number, or else the submission's."""
    text = "".join(
        f"submission_{n}:\n  :submitters:\n  - :name: Wei Zhang\n{sid}  :history: []\n"
        for n, sid in ((1, "    :sid: '77'\n"), (2, ""))
    )
    place = packed(
        tmp_path,
        "submission_1/verify.py",
        "submission_2/verify.py",
        ("submission_metadata.yml", text),
    )
    assert [row[0] for row in told(place)] == ["Wei Zhang (77)", "Wei Zhang (submission_2)"]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("Ann Lee", "Ann Lee"),
        ("'Ann: Lee'", "Ann: Lee"),
        ('"Ann \\"A\\" Lee"', 'Ann "A" Lee'),
        ('"Ann\\e"', "ann@example.org"),
        ("*1", "ann@example.org"),
        ("!ruby/object:Gem::Installer", "ann@example.org"),
        ("|-", "ann@example.org"),
        ("", "ann@example.org"),
        ("~", "ann@example.org"),
    ],
)
def test_gradescope_values_that_are_not_plain_text_are_left_out(value, name):
    """Nothing of YAML is carried out; the address stands in."""
    text = f"submission_1:\n  :submitters:\n  - :name: {value}\n    :email: ann@example.org\n"
    assert layouts.submitters(text) == {"submission_1": [(name, "submission_1")]}


@pytest.mark.parametrize(
    "text", ["", "\0", "a: [", "submission_1:", ":name: x\n" * 9, "- :name: x"]
)
def test_any_text_is_read_as_gradescope_metadata_without_a_fault(text):
    """What is not understood names nobody."""
    assert all(name == "submission_1" for name in layouts.submitters(text))


# Zip files ----------------------------------------------------------------------------------------


def test_a_zip_file_of_folders_or_files(tmp_path):
    """The same layouts as on disk."""
    place = packed(tmp_path, "ann/verify.py", "bo_verify.py", "empty/")
    assert [row[::3] for row in told(place)] == [
        ("ann", "ready"),
        ("bo", "ready"),
        ("empty", "missing"),
    ]


@pytest.mark.parametrize(
    ("names", "learners"),
    [
        (["class/ann/verify.py", "class/bo/verify.py"], ["ann", "bo"]),
        (["class/verify_ann.py", "class/verify_bo.py"], ["ann", "bo"]),
        (["a/b/ann/verify.py", "a/b/bo/verify.py"], ["a"]),
        (["ann/verify.py", "ann/step.py"], ["ann", "ann"]),
        (["ann/verify/main.py", "ann/step/main.py"], ["ann", "ann"]),
        (["ann/src/verify.py"], ["ann"]),
        ([f"x/{name}" for name in CANVAS], ["doejane", "leeann", "zoë"]),
        ([f"x/{name}" for name in MOODLE], ["Ann Lee", "Jane Doe", "Zoë Ng"]),
    ],
)
def test_the_folder_around_a_packed_class_is_no_learner(tmp_path, names, learners):
    """It is one only if what is in it looks like one learner's work."""
    assert [row[0] for row in told(packed(tmp_path, *names))] == learners


def entry(name: str, **fields: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    for field, value in fields.items():
        setattr(info, field, value)
    return info


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("/ann/verify.py", "absolute path"),
        ("C:\\ann\\verify.py", "absolute path"),
        ("../ann/verify.py", "leads out of its folder"),
        ("ann/../../verify.py", "leads out of its folder"),
        ("..\\ann\\verify.py", "leads out of its folder"),
        (entry("ann/verify.py", external_attr=(stat.S_IFLNK | 0o777) << 16), "a link"),
        (entry("ann/verify.py", external_attr=(stat.S_IFIFO | 0o777) << 16), "not an ordinary"),
        (entry("ann/verify.py", compress_type=zipfile.ZIP_BZIP2), "unusual way"),
        (entry("ann/verify.py", compress_type=zipfile.ZIP_LZMA), "unusual way"),
    ],
)
def test_a_hostile_entry_is_its_learners_row(tmp_path, name, reason):
    """It is not read, and the others are."""
    places = rows(packed(tmp_path, (name, CODE), "bo/verify.py"))
    assert places[-1].status == "ready"
    assert places[0].status == "unreadable"
    assert reason in places[0].reason
    assert [path.name for path in tmp_path.iterdir()] == ["class.zip"]


def test_an_entry_with_a_password_is_its_learners_row(tmp_path):
    """The flag is enough."""
    place = packed(tmp_path, "ann/verify.py", "bo/verify.py")
    data = bytearray(place.read_bytes())
    data[data.index(b"PK\3\4") + 6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    place.write_bytes(data)
    assert [row[::3] for row in told(place)] == [("ann", "unreadable"), ("bo", "ready")]
    assert "password" in rows(place)[0].reason


def test_a_link_in_place_of_a_packed_folder_is_its_learners_row(tmp_path):
    """As on disk."""
    link = entry("ann", external_attr=(stat.S_IFLNK | 0o777) << 16)
    place = packed(tmp_path, (link, "/etc"), "bo/verify.py")
    assert [row[::3] for row in told(place)] == [("ann", "unreadable"), ("bo", "ready")]


def test_a_bomb_is_read_no_further_than_a_submission(tmp_path):
    """200 MB of zeros in 200 KB are told in no time."""
    place = packed(tmp_path, ("ann/verify.py", b"\0" * 200_000_000), "bo/verify.py")
    began = time.perf_counter()
    ann, bo = rows(place)
    assert time.perf_counter() - began < 1
    assert (ann.reason.split(";")[0], bo.status) == ("more than 256 KiB", "ready")


@pytest.mark.parametrize(("claimed", "status"), [(1, "unreadable"), (2**31, "ready")])
def test_the_size_an_entry_claims_is_not_believed(tmp_path, claimed, status):
    """One that claims less than it has is damaged, one that claims more has what it has."""
    place = packed(tmp_path, ("ann/verify.py", CODE * 100), "bo/verify.py")
    data = bytearray(place.read_bytes())
    where = data.index(b"PK\1\2") + 24
    data[where : where + 4] = claimed.to_bytes(4, "little")
    place.write_bytes(data)
    ann, bo = rows(place)
    assert (ann.status, bo.status) == (status, "ready")


def test_an_entry_that_is_damaged_is_its_learners_row(tmp_path):
    """A flipped bit in the data is caught by the sum over it."""
    place = packed(tmp_path, ("ann/verify.py", os.urandom(50).hex()), "bo/verify.py")
    data = bytearray(place.read_bytes())
    data[60] ^= 0xFF
    place.write_bytes(data)
    ann, bo = rows(place)
    assert (ann.reason, bo.status) == ("damaged in the zip file; fetch that again", "ready")


def test_what_is_read_of_a_learners_is_limited_and_of_nobody_elses(tmp_path, monkeypatch):
    """Who hands in more than can be read loses their own row, and not those that follow."""
    monkeypatch.setattr(zips, "MOST_READ", 3000)
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as file:
        file.writestr("data.bin", bytes(2000))
    bombs = [(f"bo/{n}.zip", inner.getvalue()) for n in range(5)]
    place = packed(tmp_path, "ann/verify.py", *bombs, ("bo/verify.py", "x = 1\n"), "cy/verify.py")
    assert [row[3] for row in told(place)] == ["ready", "unreadable", "ready"]
    assert "of the same learner's; hand in the source alone" in rows(place)[1].reason


@pytest.mark.parametrize(
    "name",
    [
        ".Net Fan_1_assignsubmission_file_/verify.py",
        ".netfan_1_10_verify.py",
        ".n_LATE_1_10_verify.py",
    ],
)
def test_a_learner_whose_name_begins_with_a_dot_has_a_row(tmp_path, name):
    """Platforms put names first: such a file is not a hidden one."""
    other = name.replace(".N", "B").replace(".n", "b")
    place = packed(tmp_path, name, other)
    assert [row[3] for row in told(place)] == ["ready", "ready"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name_are_ambiguous(tmp_path):
    """A zip file may hold both."""
    row = only(packed(tmp_path, "ann/verify.py", "ann/verify.py"))
    assert (row.status, row.reason) == (
        "ambiguous",
        "2 files for 'verify': verify.py, verify.py; leave the one to be graded",
    )


@pytest.mark.parametrize("kind", [folder, packed])
@pytest.mark.parametrize("inner", ["verify.py", "work/verify.py", "verify_final.py"])
def test_a_zip_file_that_a_learner_handed_in_is_looked_into(tmp_path, kind, inner):
    """One level deep."""
    data = archive(inner, "notes.txt", "__MACOSX/._verify.py")
    place = kind(tmp_path, "bo/verify.py", "ann/work.zip")
    if kind is folder:
        (place / "ann/work.zip").write_bytes(data)
    else:
        place = packed(tmp_path, "bo/verify.py", ("ann/work.zip", data))
    assert [row[::3] for row in told(place)] == [("ann", "ready"), ("bo", "ready")]
    assert rows(place)[0].source.text == CODE


def test_a_learners_zip_file_may_tell_the_problem_by_its_own_name(tmp_path):
    """`ann_verify.zip` with some file in it."""
    place = folder(tmp_path, "bo_verify.py")
    (place / "ann_verify.zip").write_bytes(archive("main.py"))
    assert told(place)[0] == ("ann", "verify", "main.py", "ready")


def test_a_file_beside_a_zip_file_with_another_is_ambiguous(tmp_path):
    """Both are named."""
    place = folder(tmp_path, "ann/verify.py")
    (place / "ann/work.zip").write_bytes(archive("verify.py"))
    assert "verify.py, work.zip/verify.py" in only(place).reason


@pytest.mark.parametrize(
    ("data", "status", "reason"),
    [
        (b"no zip", "unreadable", "work.zip: not a zip file"),
        (archive("verify.py")[:-9], "unreadable", "work.zip: not a zip file"),
        (archive(), "missing", "no Python file, only work.zip"),
        (archive(("more.zip", archive("verify.py"))), "missing", "no Python file, only more.zip"),
        (archive("../verify.py"), "unreadable", "leads out of its folder"),
        (os.urandom(2**20) * 5, "unreadable", "work.zip: more than 4 MiB"),
    ],
)
@pytest.mark.parametrize("outer", [True, False])
def test_a_learners_zip_file_that_cannot_be_used_is_that_learners_row(
    tmp_path, data, status, reason, outer
):
    """A zip file in a zip file in a zip file is left alone."""
    place = folder(tmp_path, "ann/")
    (place / "ann/work.zip").write_bytes(data)
    if outer:
        place = packed(tmp_path, ("ann/work.zip", data))
    row = only(place, "verify")
    assert (row.learner, row.status) == ("ann", status)
    assert reason in row.reason


def test_letters_of_names_that_macos_packed_are_read(tmp_path):
    """It writes UTF-8 without saying so."""
    place = packed(tmp_path, "zoë/verify.py", "bo/verify.py")
    data = place.read_bytes()
    for mark, where in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = data.index(mark) + where
        data = data[:at] + b"\0\0" + data[at + 2 :]
    place.write_bytes(data)
    assert [row[0] for row in told(place)] == ["bo", "zoë"]


def test_a_packed_folder_of_junk_alone_is_a_learner(tmp_path):
    """As it is on disk; junk within junk is nobody."""
    place = packed(tmp_path, "ann/.DS_Store", "bo/verify.py", "__MACOSX/cy/._verify.py")
    assert [row[::3] for row in told(place, "verify")] == [("ann", "missing"), ("bo", "ready")]


def test_a_zip_file_is_closed_when_its_last_submission_is_read(tmp_path):
    """Also when nobody reads to the end: a file left open is a warning, and warnings are errors."""
    place = packed(tmp_path, "ann/verify.py", "bo/verify.py")
    read = handed_in.read(place, SLUGS)
    next(read)
    read.close()
    assert len(rows(place)) == 2


# What is no class ---------------------------------------------------------------------------------


def test_a_place_that_is_not_there(tmp_path):
    """It is named, with what to do."""
    assert "no such folder or zip file; check the name" in refusal(tmp_path / "class")


@pytest.mark.parametrize("kind", [folder, packed])
def test_a_place_without_anybodys_work(tmp_path, kind):
    """No folder, no Python file: the reason says what a class looks like."""
    assert "holds no class" in refusal(kind(tmp_path, "readme.txt", ".hidden/verify.py"))


def test_a_single_python_file_is_no_class(tmp_path):
    """There is a command for it."""
    assert "grade it with grade run" in refusal(folder(tmp_path, "verify.py") / "verify.py")


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"no zip file", b"PK\5\6" + b"\xff" * 18])
def test_a_file_that_is_no_zip_file(tmp_path, data):
    """The archive as a whole is refused."""
    (tmp_path / "class.zip").write_bytes(data)
    assert "not a zip file, or one that was cut short" in refusal(tmp_path / "class.zip")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_zip_file_that_was_cut_short(tmp_path, share):
    """Without its list of entries nobody knows who is in it."""
    place = packed(tmp_path, *(f"{n}/verify.py" for n in range(50)))
    data = place.read_bytes()
    place.write_bytes(data[: int(len(data) * share)])
    assert "fetch it again" in refusal(place)


def test_a_zip_file_of_too_many_entries(tmp_path, monkeypatch):
    """They are counted before they are looked at."""
    place = tmp_path / "class.zip"
    with zipfile.ZipFile(place, "w") as file:
        for number in range(101):
            file.writestr(f"{number}.py", "")
    monkeypatch.setattr(zips, "MOST_ENTRIES", 100)
    assert "more than 100 entries" in refusal(place)


def test_a_list_of_entries_of_any_length_is_not_read(tmp_path):
    """zipfile would make an object of every 46 bytes of it."""
    place = packed(tmp_path, "ann/verify.py")
    data = place.read_bytes()
    at = data.index(b"PK\1\2")
    listed, end = data[at : data.index(b"PK\5\6")], bytearray(data[data.index(b"PK\5\6") :])
    listed *= 1_300_000
    end[12:16] = len(listed).to_bytes(4, "little")
    place.write_bytes(data[:at] + listed + end)
    assert "more than 200,000 entries" in refusal(place)


def test_any_change_to_a_zip_file_is_told_in_words(tmp_path):
    """Each byte of one in turn is another: a refusal, or rows, and never another error."""
    place = packed(tmp_path, "ann/verify.py", "bo/verify.py")
    data = place.read_bytes()
    for at in range(len(data)):
        for value in (0xFF, data[at] ^ 0x01):
            place.write_bytes(data[:at] + bytes([value]) + data[at + 1 :])
            try:
                assert rows(place)
            except UsageError:
                pass


# Nobody is lost -----------------------------------------------------------------------------------

NAMES = st.text(
    st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1, max_size=20
).filter(
    lambda name: (
        not is_junk(name)
        and name.strip("_-. ") == name
        and layouts.told(name, SLUGS) == (None, name)
        and ":" not in name[1:2]
    )
)
LAYOUTS = {
    "a folder each": "{name}/verify.py",
    "a folder in a folder": "{name}/final/verify_mine.py",
    "problem first": "verify_{name}.py",
    "problem last": "{name}_verify.py",
    "two dashes": "{name}--verify.py",
    "the learner alone": "{name}.py",
    "Canvas": "{word}_{number}_1{number}_verify.py",
    "Canvas, late": "{word}_LATE_{number}_1{number}_verify-1.py",
    "Moodle": "{spaced}_{number}_assignsubmission_file_/verify.py",
    "Moodle, flat": "{spaced}_{number}_assignsubmission_file_verify.py",
    "Gradescope": "submission_{number}/verify.py",
}


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=st.lists(NAMES, min_size=1, max_size=6, unique=True))
@example(names=["ann", "Ann", "ANN", "ann (2)", "ann (1)", "ann\u202e"])
@example(names=["zoë", "zoe\u0308", "\x01", "\x02", "learner", "\u200b\u200c"])
@example(names=["a", "b_1_2_c", "c_assignsubmission_file", "submission_1", "LATE", "anon_x"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_learner_is_lost_or_taken_for_another(tmp_path, layout, names):
    """In every layout each has one row, under a name of its own, with the file of that learner."""
    contents = {}
    for number, name in enumerate(names, start=1):
        word = "".join(filter(str.isalnum, name)).lower()
        spaced = name.replace("_", " ")
        entry = LAYOUTS[layout].format(name=name, word=word, spaced=spaced, number=number)
        contents[entry] = f"x = {number}\n"
    place = packed(tmp_path, *contents.items())
    found = rows(place, "verify")
    assert [row.status for row in found] == ["ready"] * len(names)
    assert len({row.learner for row in found}) == len(names)
    assert sorted(row.source.text for row in found) == sorted(contents.values())


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    names=st.lists(
        st.text(st.sampled_from("ab1_-. ()/"), min_size=1, max_size=12).map(
            lambda name: f"x{name}_verify.py"
        ),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
def test_every_file_is_a_row_or_named_in_one(tmp_path, names):
    """Whatever its name is taken for."""
    names = [name for name in names if not any(map(is_junk, name.split("/")))] or ["x_verify.py"]
    found = rows(packed(tmp_path, *names))
    named = [name for row in found for name in (row.file, row.reason) if name]
    for name in names:
        last = " ".join(name.rpartition("/")[2].split())
        assert any(last in each for each in named), (name, named)


# The same code ------------------------------------------------------------------------------------

SAME = {
    "comments": "# mine\ndef f(x):  # it is f\n    return x  # done\n",
    "blank lines": "\n\ndef f(x):\n\n\n    return x\n\n",
    "spaces at line ends": "def f(x):  \n    return x\t\n",
    "docstrings": '"""A file."""\n\n\ndef f(x):\n    """F.\n\n    Of x.\n    """\n    return x\n',
    "docstrings in parts": "def f(x):\n    'a' \\\n    'b'\n    return x",
    "no line end at the end": "def f(x):\n    return x",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_the_same_code_is_of_one_group(text):
    """Comments, docstrings, blank lines and spaces at line ends are no code."""
    assert source_group(text) == source_group("def f(x):\n    return x\n")


OTHER = {
    "another name": "def f(y):\n    return y\n",
    "a string that is used": 'def f(x):\n    x = "x"\n    return x\n',
    "an f-string of its own": 'def f(x):\n    f"{x}"\n    return x\n',
    "more code": "def f(x):\n    return x\n\n\nx = 1\n",
}


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_other_code_is_of_another_group(text):
    """What runs differently is told apart."""
    assert source_group(text) != source_group("def f(x):\n    return x\n")


def test_what_is_in_a_string_is_code():
    """A `#`, a blank line and a space at a line's end in it count."""
    texts = [f'x = """a{middle}\nb"""\n' for middle in ("", "  ", "\n", "  # c", "\n\n")]
    assert len({*map(source_group, texts)}) == len(texts)


@pytest.mark.parametrize("broken", ["def f(:\n", 'x = """\n', "x = 'a\n", "  x\n y\n", "x = $\n"])
def test_a_text_that_does_not_tokenize_is_compared_by_lines(broken):
    """Whole comments, blank lines and spaces at line ends are left out all the same."""
    assert source_group(broken) == source_group(f"# mine\n\n{broken.rstrip()}  \n")
    assert source_group(broken) != source_group(f"{broken}y\n")


N = 256 * 1024
NASTY = {
    "escaped quotes": "'\\'" * (N // 3),
    "lines of escaped quotes": ("'\\'" * 600 + "\n") * 140,
    "open brackets": "(" * N,
    "lines of open brackets": ("[" * 1900 + "\n") * 60,
    "an endless string": '"""' + "a\n" * (N // 2),
    "a continued line": "\\\n" * (N // 2),
    "ever deeper": "\n".join(" " * depth + "if x:" for depth in range(720)),
    "short lines": "a\n" * (N // 2),
    "no text": "\0\ud800\x0c\r\x85\u2028",
    "too large": "x = 1\n" * N,
    "nothing": "",
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_nasty_texts_take_no_time(text):
    """Some tokenizers take the square of a line's length."""
    began = time.perf_counter()
    source_group(text)
    assert time.perf_counter() - began < 10


def test_a_plain_name_is_for_whoever_has_it(tmp_path):
    """A name that is shown like another's does not take the row of whoever really has it."""
    for name, text in (("zed", "real"), ("\x01zed", "other"), ("zed\u200b", "another")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "verify.py").write_text(f"# {text}\n", encoding="utf-8")

    found = {
        each.learner: each.source.text for each in handed_in.read(tmp_path, SLUGS) if each.source
    }

    assert found["zed"] == "# real\n"
    assert sorted(found) == ["zed", "zed (2)", "zed (3)"]


@pytest.mark.parametrize("kind", ["the disk", "a right"])
def test_what_the_machine_keeps_back_is_not_the_learners(tmp_path, monkeypatch, kind):
    """A disk that fails, or a right that the grader lacks, can be told from what was handed in."""
    place = folder(tmp_path, "verify.py")
    assert handed_in.only(place, SLUGS, "verify").name == "verify.py"
    number = errno.EIO if kind == "the disk" else errno.EACCES

    def refuse(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    for name in ("open", "scandir"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, refuse)
            with pytest.raises(OutOfReach):
                handed_in.only(place, SLUGS, "verify")
    (place / "verify.py").unlink()
    with pytest.raises(UsageError, match="nothing was handed in") as refused:
        handed_in.only(place, SLUGS, "verify")
    assert not isinstance(refused.value, OutOfReach)
