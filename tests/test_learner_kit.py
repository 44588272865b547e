"""The learner's kit: what is in it, that it works alone, and that it is the same everywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits
from grader.dev import learner_kit
from grader.faults import UsageError
from grader.kit import Kit
from tests import dev_kits
from tests.conftest import ROOT

HANDED_OUT = {name for name in dev_kits.FILES if not name.startswith("solutions/")}
# What lies about in a folder where people work.
LITTER = (
    ".git-credentials",
    ".venv/lib/site.py",
    "env/pyvenv.cfg",
    "env/lib/site.py",
    "build/lib/halve.py",
    "dist/old.whl",
    "tiny.egg-info/PKG-INFO",
    "problems/halve/__pycache__/checks.cpython-311.pyc",
    "problems/halve/.checks.py.swp",
    "templates/halve.pyc",
)


@pytest.fixture(name="kit")
def _kit(tmp_path: Path) -> Kit:
    return dev_kits.write(tmp_path / "kit")


def files_under(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def git(folder: Path, *arguments: str) -> None:
    """Runs git with nobody's settings."""
    subprocess.run(
        ["git", "-C", folder, *arguments],
        env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        check=True,
        capture_output=True,
    )


# ---- what is in it


def test_it_is_everything_but_the_solutions(kit, tmp_path):
    """Each file of the kit is in it, unchanged, and none of `solutions/`."""
    summary = learner_kit.write(kit, tmp_path / "out")
    written = files_under(tmp_path / "out")
    assert written == {name: dev_kits.FILES[name].encode() for name in HANDED_OUT}
    assert (summary.files, summary.size) == (len(written), sum(map(len, written.values())))


def test_litter_is_left_out(kit):
    """Nothing hidden, built or cached is handed out, and no environment, whatever its name."""
    for name in LITTER:
        dev_kits.add(kit.root, name, "litter")
    assert {*learner_kit.contents(kit)} == HANDED_OUT


@pytest.mark.parametrize("slug", ["build", "dist", "venv", "solutions"])
def test_a_problem_may_have_any_name(kit, slug):
    """Only at the top of the kit are these the names of what is left out."""
    dev_kits.add(kit.root, f"problems/{slug}/statement.md", "# A problem\n")
    assert f"problems/{slug}/statement.md" in learner_kit.contents(kit)


def test_in_a_checkout_what_lies_there_by_chance_stays(kit, tmp_path):
    """Files that git does not know may be anybody's; those it ignores are in no kit."""
    git(kit.root, "init", "--quiet")
    dev_kits.add(kit.root, ".gitignore", "*.orig\n")
    git(kit.root, "add", ".")
    dev_kits.add(kit.root, "grades.csv", "Ada,100\n")
    dev_kits.add(kit.root, "handed_in/ada.py", dev_kits.RIGHT)
    dev_kits.add(kit.root, "problems/halve/checks.py.orig", "")
    assert learner_kit.write(kit, tmp_path / "out").unknown == ()
    assert {*files_under(tmp_path / "out")} == HANDED_OUT


def test_a_problem_that_git_does_not_know_yet_is_handed_out(kit, tmp_path):
    """A problem is a folder, added or not; that git does not know it is told."""
    git(kit.root, "init", "--quiet")
    git(kit.root, "add", ".")
    dev_kits.add(kit.root, "problems/fresh/problem.toml", "format = 1\n")
    summary = learner_kit.write(kit, tmp_path / "out")
    assert summary.unknown == ("problems/fresh/problem.toml",)
    assert {*files_under(tmp_path / "out")} == HANDED_OUT | {*summary.unknown}


def test_a_file_that_is_gone_is_not_handed_out(kit):
    """Git still knows a file that has been deleted since."""
    git(kit.root, "init", "--quiet")
    git(kit.root, "add", ".")
    (kit.root / "problems/halve/cases.py").unlink()
    assert {*learner_kit.contents(kit)} == HANDED_OUT - {"problems/halve/cases.py"}


def test_a_kit_within_another_repository_is_listed_by_itself(kit, tmp_path):
    """In a folder of a course's repository, and in one that git does not know, all is found."""
    git(tmp_path, "init", "--quiet")
    assert {*learner_kit.contents(kit)} == HANDED_OUT
    git(tmp_path, "add", "kit/problems", "kit/templates")
    assert {*learner_kit.contents(kit)} == HANDED_OUT


def test_a_repository_that_git_will_not_read_is_no_plain_folder(kit, tmp_path):
    """Falling back to every file would hand out what git does not know."""
    dev_kits.add(kit.root, ".git/config", "[core\n")
    dev_kits.add(kit.root, ".git/HEAD", "ref: refs/heads/main\n")
    (kit.root / ".git/refs").mkdir()
    (kit.root / ".git/objects").mkdir()
    with pytest.raises(UsageError, match="git does not tell"):
        learner_kit.write(kit, tmp_path / "out")


def test_a_broken_repository_is_no_plain_folder_either(kit, tmp_path):
    """Git calls a folder with a spoilt HEAD no repository; what lies in it stays at home."""
    git(kit.root, "init", "--quiet")
    dev_kits.add(kit.root, ".git/HEAD", "garbage\n")
    dev_kits.add(kit.root, "grades.csv", "Ada,100\n")
    with pytest.raises(UsageError, match="git does not tell"):
        learner_kit.write(kit, tmp_path / "out")


def test_a_hooks_repository_is_not_asked(kit, tmp_path, monkeypatch):
    """Inside a git hook the environment names a repository, which need not be the kit's."""
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    assert {*learner_kit.contents(kit)} == HANDED_OUT


def test_a_kit_without_a_problem_is_refused(kit, tmp_path):
    """Nobody wants to hand out a kit that has nothing to do in it."""
    shutil.rmtree(kit.root / "problems/halve")
    with pytest.raises(UsageError, match="would hold no file"):
        learner_kit.write(kit, tmp_path / "out")


@pytest.mark.parametrize("name", ["templates/link.py", "problems/link", "link"])
def test_a_link_is_refused(kit, name):
    """It may lead to a solution, and leads nowhere in the learner's kit."""
    (kit.root / name).symlink_to(kit.root / "solutions/halve")
    with pytest.raises(UsageError, match=f"{name}: a link"):
        learner_kit.contents(kit)


def test_a_name_that_no_archive_can_hold_is_refused(kit):
    """A name that is not UTF-8 would be another one on the learner's machine."""
    (kit.problems / "halve" / os.fsdecode(b"caf\xe9.md")).write_bytes(b"")
    with pytest.raises(UsageError, match="rename it"):
        learner_kit.contents(kit)


# ---- where it goes


@pytest.mark.parametrize("name", ["out", "out.zip", "out.tar.gz"])
def test_nothing_is_ever_overwritten(kit, tmp_path, name):
    """A file or a folder with something in it stays what it was."""
    dev_kits.add(tmp_path, f"{name}/precious.txt", "mine")
    with pytest.raises(UsageError, match="not empty"):
        learner_kit.write(kit, tmp_path / name)
    with pytest.raises(UsageError, match="there already"):
        learner_kit.write(kit, tmp_path / name / "precious.txt")
    assert files_under(tmp_path / name) == {"precious.txt": b"mine"}


def test_an_empty_folder_is_filled(kit, tmp_path):
    """A folder that was made for it is as good as none."""
    (tmp_path / "out").mkdir()
    learner_kit.write(kit, tmp_path / "out")
    assert {*files_under(tmp_path / "out")} == HANDED_OUT


@pytest.mark.parametrize("name", ["out", "problems/out.zip", "solutions/out", "a/../out.tar.gz"])
def test_a_place_inside_the_kit_is_refused(kit, name):
    """It would be handed out with the next one."""
    with pytest.raises(UsageError, match=r"inside the kit.*dist/out"):
        learner_kit.write(kit, kit.root / name)


def test_dist_is_a_place_inside_the_kit_that_will_do(kit):
    """What is built goes to `dist/`, which is never handed out."""
    learner_kit.write(kit, kit.root / "dist/out")
    assert {*learner_kit.contents(kit)} == HANDED_OUT
    assert {*files_under(kit.root / "dist/out")} == HANDED_OUT


@pytest.mark.parametrize("name", ["out.tgz", "out.tar", "out.7z", "out.tar.xz"])
def test_an_archive_of_another_kind_is_refused(kit, tmp_path, name):
    """A folder called out.tgz is what nobody wants."""
    with pytest.raises(UsageError, match=r"say \.zip, \.tar\.gz"):
        learner_kit.write(kit, tmp_path / name)


@pytest.mark.parametrize("name", ["out", "out.zip", "out.tar.gz"])
def test_nothing_is_left_where_it_cannot_be_written(kit, tmp_path, name, monkeypatch):
    """Whole or not at all: a disk that is full leaves no half a kit, and the reason is told."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    (tmp_path / "to").mkdir()
    with pytest.raises(UsageError, match="No space left"):
        learner_kit.write(kit, tmp_path / "to" / name)
    assert [*(tmp_path / "to").iterdir()] == []


# ---- the same everywhere


@pytest.mark.parametrize("name", ["out.zip", "out.tar.gz"])
def test_the_same_files_make_the_same_bytes(kit, tmp_path, name, monkeypatch):
    """Neither the place, the age, the rights nor the order of the files shows, nor the time."""
    copy = tmp_path / "somewhere" / "else"
    for file in sorted(dev_kits.FILES, reverse=True):
        dev_kits.add(copy, file, dev_kits.FILES[file])
        (copy / file).chmod(0o700)
        os.utime(copy / file, (1e9, 1e9))
    first = learner_kit.write(kit, tmp_path / name)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    again = learner_kit.write(kits.find(copy), tmp_path / "again" / f"other-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / "again" / f"other-{name}").read_bytes()
    assert first.sha256 == again.sha256


def test_the_digest_is_of_the_contents(kit, tmp_path):
    """A folder and both archives of one kit have one digest, and another kit has another."""
    digests = [
        learner_kit.write(kit, tmp_path / name).sha256 for name in ("a", "b.zip", "c.tar.gz")
    ]
    dev_kits.edit(kit.root, "problems/halve/checks.py", "Times 0.5.", "Times 1/2.")
    assert len({*digests}) == 1
    assert learner_kit.write(kit, tmp_path / "d").sha256 != digests[0]


def test_other_contents_have_another_date(kit, tmp_path):
    """Unpacked over an older kit, a changed file of the same size is not taken for unchanged."""
    learner_kit.write(kit, tmp_path / "old.zip")
    dev_kits.edit(kit.root, "problems/halve/checks.py", "Times 0.5.", "Times 1/2.")
    learner_kit.write(kit, tmp_path / "new.zip")
    with zipfile.ZipFile(tmp_path / "old.zip") as old, zipfile.ZipFile(tmp_path / "new.zip") as new:
        (was,) = {entry.date_time for entry in old.infolist()}
        (now,) = {entry.date_time for entry in new.infolist()}
    assert was != now


@pytest.mark.parametrize("name", ["out.zip", "out.tar.gz"])
def test_an_archive_unpacks_to_one_folder_with_the_same_files(kit, tmp_path, name):
    """It is called as the project is, and holds what the folder would."""
    dev_kits.add(kit.root, "pyproject.toml", '[project]\nname = "half-kit"\n')
    learner_kit.write(kit, tmp_path / name)
    shutil.unpack_archive(tmp_path / name, tmp_path / "unpacked")
    learner_kit.write(kit, tmp_path / "folder")
    assert [path.name for path in (tmp_path / "unpacked").iterdir()] == ["half-kit"]
    assert files_under(tmp_path / "unpacked/half-kit") == files_under(tmp_path / "folder")


def test_a_tar_names_no_user(kit, tmp_path):
    """Nothing of the machine it was made on is in it."""
    learner_kit.write(kit, tmp_path / "out.tar.gz")
    with tarfile.open(tmp_path / "out.tar.gz") as archive:
        owners = {(m.uid, m.gid, m.uname, m.gname, m.mode, m.type) for m in archive.getmembers()}
    assert owners == {(0, 0, "", "", 0o644, tarfile.REGTYPE)}


# ---- it works alone


@pytest.fixture(name="handed_out", scope="module")
def _handed_out(tmp_path_factory) -> Path:
    """The learner's kit of this repository, unpacked."""
    folder = tmp_path_factory.mktemp("learner")
    learner_kit.write(kits.find(), folder / "kit.zip")
    shutil.unpack_archive(folder / "kit.zip", folder)
    return folder / kits.NAME


def run(handed_out: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The grader of the learner's kit, away from the checkout."""
    work = handed_out.parent / "work"
    work.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-P", "-m", "grader", *map(str, arguments)],
        cwd=work,
        env=os.environ
        | {"PYTHONPATH": str(handed_out), "PYTHONUTF8": "1", "XDG_STATE_HOME": str(work / "state")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def test_a_learners_kit_grades(handed_out, valid_score):
    """With its own grader and `--kit`, public checks run on a stub, and hidden ones do not."""
    stub = handed_out / "templates/verify.py"
    done = run(handed_out, "--kit", handed_out, "run", stub, "--json", "-")
    assert done.returncode == 1, done.stderr
    score = valid_score(done.stdout)
    assert (score["score"], score["seed"]) == (0, None)
    assert score["checks"]
    assert not any(check["hidden"] for check in score["checks"])


def test_a_learners_kit_gives_hints(handed_out):
    """Statement, explanation and hints are in it."""
    assert run(handed_out, "show", "step").stdout.startswith("# ")
    assert "Hint 1 of" in run(handed_out, "hint", "verify", "--all").stdout


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt", "README.md", "LICENSE",
                                  "grader/worker/__main__.py", "templates/step.py"])  # fmt: skip
def test_a_learners_kit_can_be_installed(handed_out, name):
    """What an installation needs is there, as it is here."""
    assert (handed_out / name).read_bytes() == (ROOT / name).read_bytes()
