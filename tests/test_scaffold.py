"""`grade dev new`: a problem is written whole or not at all, and what is written is a good one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader import kit as kits
from grader import problem as problems
from grader.dev import check, diagnose, scaffold
from grader.faults import UsageError
from tests.conftest import ROOT

FILES = {
    "problems/soft/problem.toml",
    "problems/soft/statement.md",
    "problems/soft/learn.md",
    "problems/soft/cases.py",
    "problems/soft/checks.py",
    "templates/soft.py",
    "solutions/soft/solution.py",
    "solutions/soft/hidden.py",
    "solutions/soft/right/through_log_softmax.py",
    "solutions/soft/wrong/multiplies.py",
    "solutions/soft/wrong/overflows.py",
    "solutions/soft/wrong/shifts_in_place.py",
}


def everything(root: Path) -> set[str]:
    """Every path below a folder, folders included."""
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


@pytest.fixture(name="kit")
def _kit(tmp_path: Path) -> kits.Kit:
    """A kit with the three folders and nothing in them."""
    for name in ("problems", "templates", "solutions"):
        (tmp_path / "kit" / name).mkdir(parents=True)
    return kits.find(tmp_path / "kit")


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may write anywhere: for a while, be nobody."""
    user = os.geteuid()
    os.seteuid(user or 65_534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.fixture(name="open_folder")
def _open_folder() -> Iterator[Path]:
    """A folder that everybody may enter and write, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


# What is written


def test_every_file_is_written_and_returned(kit):
    """The files returned are the ones that are there, and no others."""
    written = scaffold.write(kit, "soft")
    assert {path.relative_to(kit.root).as_posix() for path in written} == FILES
    assert {path for path in everything(kit.root) if (kit.root / path).is_file()} == FILES


def test_the_problem_is_sound_as_it_stands(tmp_path):
    """`grade dev check` finds nothing to complain about and nothing to remark on."""
    root = tmp_path / "sound"
    root.mkdir()
    scaffold.write(scaffold.kit_in(root), "sound_as_it_stands")
    verdict = check.check(kits.find(root), ["sound_as_it_stands"], seeds=3, lanes=1)
    assert [str(complaint) for complaint in verdict.complaints] == []
    assert not [note for note in verdict.notes if "sound_as_it_stands" in note]
    assert len(verdict.results) == 3 * 4


@pytest.mark.parametrize("slug", ["soft", "temperature_of_a_long_name"])
def test_the_files_pass_the_linter_with_and_without_their_notes(kit, slug):
    """Lint and format hold at once, and again when every line with a note is deleted."""
    ruff = [sys.executable, "-m", "ruff"]
    config = f"--config={ROOT / 'pyproject.toml'}"
    written = scaffold.write(kit, slug)
    for without_notes in (False, True):
        if without_notes:
            for path in written:
                lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
                text = "".join(line for line in lines if "AUTHOR:" not in line)
                path.write_text(text, encoding="utf-8")
        for command in (["check", "--no-cache"], ["format", "--no-cache", "--check"]):
            run = subprocess.run(
                [*ruff, *command, config, kit.root], capture_output=True, encoding="utf-8"
            )
            assert run.returncode == 0, run.stdout


def test_every_file_explains_itself_once(kit):
    """What an author must know of a kind of file stands in it; in the wrong ones, in the first."""
    explained = {
        path.name for path in scaffold.write(kit, "soft") if "AUTHOR:" in path.read_text("utf-8")
    }
    assert explained == {Path(path).name for path in FILES} - {"overflows.py", "shifts_in_place.py"}


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (None, "Top p"),
        ('The "nucleus" \\ of é {{ slug }} $x$', 'The "nucleus" \\ of é {{ slug }} $x$'),
        ("  Spaces around  ", "Spaces around"),
    ],
)
def test_any_line_can_be_the_title(kit, given, title):
    """The title is made from the slug or taken as it is, whatever letters it has."""
    scaffold.write(kit, "top_p", given)
    assert problems.load(kit, "top_p").title == title
    page = (kit.problems / "top_p" / "statement.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {title}\n")


def test_the_examples_stand_in_the_statement(kit):
    """Every number of a worked example is a number of the statement."""
    scaffold.write(kit, "soft")
    table = tomllib.loads((kit.problems / "soft/problem.toml").read_text(encoding="utf-8"))
    page = (kit.problems / "soft/statement.md").read_text(encoding="utf-8")
    rows = [
        "| [0, {}] | {} | {} |".format(
            example["args"][0]["array"][1], example["args"][1], example["returns"]["array"]
        )
        for example in table["examples"]
    ]
    assert [row in page for row in rows] == [True, True]


# Where it is written


def test_an_empty_folder_becomes_a_kit(tmp_path):
    """In an empty folder, or one with hidden files only, the three folders are made."""
    (tmp_path / ".git").mkdir()
    scaffold.write(scaffold.kit_in(tmp_path), "soft")
    assert problems.slugs(kits.find(tmp_path)) == ["soft"]
    scaffold.write(scaffold.kit_in(tmp_path), "softer")
    assert problems.slugs(kits.find(tmp_path)) == ["soft", "softer"]


def test_a_folder_of_something_else_does_not(tmp_path):
    """A mistyped folder is refused as by every other command."""
    (tmp_path / "letter.txt").touch()
    with pytest.raises(UsageError, match="not a kit"):
        scaffold.kit_in(tmp_path)


def test_a_kit_without_solutions_gets_them(kit):
    """A learner's kit becomes an instructor's."""
    (kit.root / "solutions").rmdir()
    scaffold.write(kits.find(kit.root), "soft")
    assert kits.find(kit.root).solutions == kit.root / "solutions"


def test_the_installed_kit_is_left_alone(kit, monkeypatch):
    """What pip installed is not written into."""
    monkeypatch.setattr(kits, "__file__", str(kit.root / "kit.py"))
    data = kit.root / "_data"
    (data / "problems").mkdir(parents=True)
    with pytest.raises(UsageError, match="say --kit DIR"):
        scaffold.write(kits.find(data), "soft")
    assert everything(data) == {"problems"}


# What is refused


@pytest.mark.parametrize(
    "slug", ["", "Top", "top-p", "top p", "1st", "_top", "überlauf", "../a", "a.b", "a\n"]
)
def test_a_name_that_is_none_is_refused(kit, slug):
    """A slug is a Python name in lower case, in plain letters."""
    with pytest.raises(UsageError, match="Python name in lower case"):
        scaffold.write(kit, slug)
    assert everything(kit.root) == {"problems", "templates", "solutions"}


@pytest.mark.parametrize("slug", ["lambda", "sum", "random", "torch", "numpy", "pytest", "grader"])
def test_a_name_that_hides_another_is_refused(kit, slug):
    """A learner's `random.py` would break their own `import torch`."""
    with pytest.raises(UsageError, match="means something in Python"):
        scaffold.write(kit, slug)


def test_a_name_that_ends_in_a_library_is_refused(kit):
    """`step_numpy.py` is the stub of `step` for NumPy."""
    with pytest.raises(UsageError, match="say step, and name the library"):
        scaffold.write(kit, "step_numpy")


@pytest.mark.parametrize("title", ["", "   ", "two\nlines", "\x1b[31mred", "\x00"])
def test_a_title_that_is_no_line_is_refused(kit, title):
    """A title is one line that can be printed."""
    with pytest.raises(UsageError, match="one line of text"):
        scaffold.write(kit, "soft", title)


@pytest.mark.parametrize("place", ["problems/soft", "templates/soft.py", "solutions/soft"])
@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_nothing_is_overwritten(kit, place, kind):
    """Whatever is at one of the three places, a broken link even, stays and nothing else comes."""
    path = kit.root / place
    {"file": path.touch, "folder": path.mkdir, "link": lambda: path.symlink_to("nowhere")}[kind]()
    before = everything(kit.root)
    with pytest.raises(UsageError, match=f"{re.escape(place)}: there already"):
        scaffold.write(kit, "soft")
    assert everything(kit.root) == before


# What fails half-way


@pytest.mark.parametrize("closed", [".", "templates", "problems"])
def test_a_kit_that_cannot_be_written_is_left_as_it_was(open_folder, closed):
    """Without permission, in any of its folders, nothing is left behind and the cure is named."""
    for name in ("problems", "templates", "solutions"):
        (open_folder / name).mkdir()
        (open_folder / name).chmod(0o777)
    (open_folder / closed).chmod(0o555)
    kit = kits.find(open_folder)
    with without_privileges(), pytest.raises(UsageError, match=r"Permission denied.*--kit DIR"):
        scaffold.write(kit, "soft")
    (open_folder / closed).chmod(0o755)
    assert everything(open_folder) == {"problems", "templates", "solutions"}


@pytest.mark.parametrize("failing", [1, 2, 3])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_half_way_leaves_nothing_behind(kit, monkeypatch, failing, error):
    """Whichever of the three moves fails or is interrupted, the kit is as it was."""
    (kit.root / "solutions").rmdir()
    learners = kits.find(kit.root)
    moved, move = [], Path.replace

    def break_off(self: Path, target: Path) -> Path:
        moved.append(target)
        if len(moved) == failing:
            raise error
        return move(self, target)

    monkeypatch.setattr(Path, "replace", break_off)
    with pytest.raises((UsageError, KeyboardInterrupt)):
        scaffold.write(learners, "soft")
    assert everything(kit.root) == {"problems", "templates"}


def test_a_full_disk_leaves_nothing_behind(kit, monkeypatch):
    """A file that cannot be written ends it before anything has been moved."""

    def full(self: Path, *_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(UsageError, match="No space left on device"):
        scaffold.write(kit, "soft")
    assert everything(kit.root) == {"problems", "templates", "solutions"}


# The document that goes with it


@pytest.fixture(name="samples", scope="module")
def _samples() -> list[str]:
    """The Python in docs/new-problem.md, block by block."""
    page = (ROOT / "docs/new-problem.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_checks_of_the_document_run(samples, tmp_path):
    """The samples of checks, put together, are a check file that the reference passes."""
    draws = [sample for sample in samples if sample.startswith("import torch")]
    checks = [sample for sample in samples if sample.startswith(("import pytest", "@pytest"))]
    assert (len(draws), len(checks)) == (1, 9)
    scaffold.write(scaffold.kit_in(tmp_path), "sampled_checks")
    folder = tmp_path / "problems/sampled_checks"
    solution = tmp_path / "solutions/sampled_checks/solution.py"
    (folder / "draws.py").write_text(draws[0], encoding="utf-8")
    (folder / "checks.py").write_text("\n\n".join(checks), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "grader.plugin"]
    run = subprocess.run(
        [*command, folder / "checks.py", "--submission", solution],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert re.search(r"^11 passed", run.stdout, re.MULTILINE), run.stdout


def test_the_known_file_of_the_document_is_one_that_is_written(samples, kit):
    """The docstring that is explained is that of a file one has before oneself."""
    scaffold.write(kit, "soft")
    written = (kit.root / "solutions/soft/wrong/overflows.py").read_text(encoding="utf-8")
    assert [sample for sample in samples if written.startswith(sample)] != []


def test_the_diagnosis_of_the_document_knows_every_wrong_file(samples, tmp_path):
    """The questions that are shown tell the wrong files of a new problem apart."""
    (sample,) = [sample for sample in samples if "def sittings" in sample]
    scaffold.write(scaffold.kit_in(tmp_path), "sampled_diagnosis")
    path = tmp_path / "problems/sampled_diagnosis/diagnosis.py"
    path.write_text(sample.replace("top_p", "sampled_diagnosis"), encoding="utf-8")
    kit = kits.find(tmp_path)
    written = diagnose.write(kit, problems.load(kit, "sampled_diagnosis"))
    assert (written.stored, written.left_out) == (3, ())
