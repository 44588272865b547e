"""The autograder for Gradescope: what is in it, and what it makes of what learners hand in."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits_of_grader
from grader.dev.packages import gradescope
from grader.faults import UsageError
from tests import dev_kits, full_disks, kits, packages, planted
from tests.conftest import ROOT
from tests.exports import commands, read
from tests.hostile_places import NOBODY
from tests.packages import HOSTILE, OLD, SECRET, WRONG, Platform
from tests.packages import _folder as _folder  # fixtures
from tests.packages import _python as _python

KIT = kits_of_grader.find()
EVERYTHING = HOSTILE["reads, writes and prints"]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
instructors = pytest.mark.skipif(KIT.solutions is None, reason="a learner's kit has no solutions")


# ---- the platform


@pytest.fixture(name="kit", scope="module")
def _kit(tmp_path_factory) -> kits.TinyKit:
    return packages.instructors_kit(tmp_path_factory.mktemp("kit"))


@pytest.fixture(name="package", scope="module")
def _package(kit, tmp_path_factory) -> Path:
    """The zip file of the tiny kit's only problem."""
    out = tmp_path_factory.mktemp("out") / "autograder.zip"
    done = packages.export(kit.root, "gradescope", out)
    assert done.returncode == 0, done.stderr
    assert "set the assignment's points to 10; 3 of them are hidden until" in done.stdout
    return out


@pytest.fixture(name="autograder", scope="module")
def _autograder(package, folder, python) -> Platform:
    """`/autograder` as it is when a submission is graded, set up by the package's own script."""
    root = folder / "autograder"
    packages.unzip(package, root / "source")
    shutil.copy(root / "source/run_autograder", root)
    (root / "results").mkdir()
    (root / "submission_metadata.json").write_text('{"users": "SECRETUSER"}', encoding="utf-8")
    environment = {"KIT_AUTOGRADER": str(root), "KIT_PYTHON": python}
    return Platform(root, root / "submission", root / "run_autograder", environment)


def result(autograder: Platform, files: dict[str, str]) -> dict[str, Any]:
    """The result for these files, which is legal."""
    return read("gradescope", autograder.grade(files))


def rows(found: dict[str, Any]) -> list[tuple[str, int]]:
    return [(row["name"], row["max_score"]) for row in found["tests"]]


# ---- what is in it


def test_it_begins_at_the_root(package):
    """Both scripts, executable, with the lines of Unix; each file once, and no caches."""
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
        texts = {name: archive.read(name) for name in names}
    assert len({*names}) == len(names)
    assert {name for name, mode in modes.items() if stat.S_IMODE(mode) == 0o755} == {
        "setup.sh",
        "run_autograder",
        "grade.sh",
    }
    for name in ("setup.sh", "run_autograder", "grade.sh"):
        assert texts[name].startswith(b"#!/usr/bin/env bash\n")
        assert b"\r" not in texts[name]
        assert b"{{" not in texts[name]
        subprocess.run(["bash", "-n"], input=texts[name], check=True)
    assert not [name for name in names if "__pycache__" in name or "/." in name]


@instructors
def test_nothing_of_another_problem_is_in_it(tmp_path):
    """Nor what proves a grader at home: files known to be wrong, or to be right in other ways."""
    gradescope.write(KIT, tmp_path / "verify.zip", "verify")
    with zipfile.ZipFile(tmp_path / "verify.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    digests = {hashlib.sha256(data).digest() for data in held.values()}
    others = [KIT.problems / "step", KIT.solutions / "step", KIT.templates / "step.py"]
    others += [KIT.solutions / "verify" / kind for kind in ("right", "wrong")]
    files = [path for each in others for path in (each, *each.rglob("*")) if path.is_file()]
    assert len(files) > 20
    assert not [path for path in files if hashlib.sha256(path.read_bytes()).digest() in digests]
    assert not [name for name in held if "step" in Path(name).parts]
    for name in ("solutions/verify/hidden.py", "problems/verify/checks.py", "grader/cli.py"):
        assert held[f"kit/{name}"] == (ROOT / name).read_bytes()
    assert held["constraints.txt"] == (ROOT / "constraints.txt").read_bytes()
    assert b"torch>=" in held["requirements.txt"]


@instructors
@pytest.mark.parametrize(
    ("slug", "library", "points", "graded"),
    [
        ("verify", None, "100; 40 of them are hidden until grades are published", "torch"),
        ("verify", "numpy", "92; 37 of them are hidden until grades are published", "numpy"),
        ("step", None, "100; 30 of them are hidden until grades are published; up to 6 more are "
         "extra credit", "auto"),
    ],
)  # fmt: skip
def test_the_points_of_the_assignment_are_told(tmp_path, slug, library, points, graded):
    """An assignment has one total, so it is graded in one library where these differ."""
    told = gradescope.write(KIT, tmp_path / "out.zip", slug, library=library).told
    assert told[1] == f"set the assignment's points to {points}"
    # The trial at the end of the build needs it.
    assert (told[2][:17], told[3][:11]) == ("set the container", "then upload")
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert f"--library {graded} ".encode() in archive.read("grade.sh")


def test_the_same_kit_makes_the_same_bytes(kit, package, tmp_path):
    """Wherever it lies and whatever else lies there; an earlier package is written over."""
    copy = shutil.copytree(kit.root, tmp_path / kit.root.name)
    (copy / "problems" / kit.slug / "__pycache__").mkdir()
    (copy / "problems" / kit.slug / "__pycache__/checks.pyc").write_bytes(b"x")
    assert packages.export(copy, "gradescope", tmp_path / "out.zip").returncode == 0
    assert (tmp_path / "out.zip").read_bytes() == package.read_bytes()
    assert packages.export(copy, "gradescope", tmp_path / "out.zip").returncode == 0


# ---- what cannot be packed


def test_a_package_holds_one_problem(tmp_path):
    """The only one, or the one that is asked for; a learner's kit has nothing to pack."""
    kit = dev_kits.write(tmp_path / "kit")
    dev_kits.add(kit.root, "problems/other/problem.toml", dev_kits.TOML)
    out = tmp_path / "out.zip"
    with pytest.raises(UsageError, match=r"holds one problem, and it has halve, other; say --prob"):
        gradescope.write(kit, out, None)
    with pytest.raises(UsageError, match="no problem called 'halv'"):
        gradescope.write(kit, out, "halv")
    with pytest.raises(UsageError, match="no solutions/other, without which nothing hidden"):
        gradescope.write(kit, out, "other")
    with pytest.raises(UsageError, match="no solutions/halve"):
        gradescope.write(replace(kit, solutions=None), out, "halve")
    with pytest.raises(UsageError, match="not offered in jax, only in torch, numpy"):
        gradescope.write(kit, out, "halve", library="jax")
    dev_kits.add(kit.root, "problems/other/cases.py", "")
    dev_kits.edit(kit.root, "problems/halve/checks.py", "problems.halve", "problems.other")
    with pytest.raises(UsageError, match=r"takes problems/other/cases\.py, of another problem"):
        gradescope.write(kit, out, "halve")
    (kit.root / "solutions/halve/hidden.py").unlink()
    with pytest.raises(UsageError, match=r"no hidden\.py, which has points"):
        gradescope.write(kit, out, "halve")
    assert not out.exists()


def test_only_an_earlier_package_is_written_over(tmp_path):
    """Not one that was changed, nor anything else, nor a part of the kit."""
    kit = dev_kits.write(tmp_path / "kit")
    out = tmp_path / "out.zip"
    for name, words in {
        "notes.zip": "not an earlier package",
        "kit/problems/out.zip": "inside the kit",
        "out.tar.gz": "a name that ends in .zip",
        "folder.zip": "cannot be written|not an earlier package",
        "link.zip": "a link",
    }.items():
        (tmp_path / "notes.zip").write_text("mine", encoding="utf-8")
        (tmp_path / "folder.zip").mkdir(exist_ok=True)
        (tmp_path / "link.zip").unlink(missing_ok=True)
        (tmp_path / "link.zip").symlink_to("notes.zip")
        with pytest.raises(UsageError, match=words):
            gradescope.write(kit, tmp_path / name, None)
    assert (tmp_path / "notes.zip").read_text(encoding="utf-8") == "mine"
    gradescope.write(kit, out, None)
    gradescope.write(kit, out, None, library="numpy")
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("kit/mine.txt", "mine")
    with pytest.raises(UsageError, match=r"in which kit/mine\.txt was changed since"):
        gradescope.write(kit, out, None)


# ---- what it makes of what is handed in


def test_the_image_is_tried_when_it_is_built(autograder):
    """The reference has all points there, or whoever reads the log is told."""
    setup = replace(autograder, script=autograder.root / "source/setup.sh")
    done = setup.run()
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("The reference has all 10 points here.\n")
    own_user = os.geteuid() == 0
    assert ("own user" in done.stdout) is own_user


@instructors
def test_this_repositorys_own_kit_is_tried_as_well(folder, python, tmp_path):
    """With the grader's own name and version, and by the script that builds the image."""
    root = folder / "own"
    gradescope.write(KIT, tmp_path / "verify.zip", "verify")
    packages.unzip(tmp_path / "verify.zip", root / "source")
    environment = {"KIT_AUTOGRADER": str(root), "KIT_PYTHON": python}
    platform = Platform(root, root / "submission", root / "source/run_autograder", environment)
    setup = replace(platform, script=root / "source/setup.sh").run()
    assert setup.stdout.endswith("The reference has all 100 points here.\n"), setup.stderr
    platform.hand_in({"verify.py": (KIT.templates / "verify.py").read_text(encoding="utf-8")})
    assert platform.run().returncode == 0
    found = read("gradescope", platform.result.read_text(encoding="ascii"))
    assert (found["score"], found["extra_data"]["kit"]) == (0, KIT.version)
    assert sum(row["max_score"] for row in found["tests"]) == 100


def test_a_right_file_has_full_marks(autograder, kit):
    """The one whose name tells the problem. Hidden checks are shown when grades are published."""
    files = {"helper.py": WRONG, "test_it.py": WRONG, f"{kit.slug} (2).py": kits.RIGHT}
    found = result(autograder, files)
    assert found["score"] == sum(row["score"] for row in found["tests"]) == 10
    assert found["output"].startswith(f"{kit.slug}: 7 of 7 public points. A hidden check worth 3 ")
    (hidden,) = [row for row in found["tests"] if SECRET in row["name"]]
    assert hidden["visibility"] == "after_published"
    assert "output" not in hidden


def test_a_wrong_file_loses_points(autograder):
    """Whatever it is called, if it is the only one; hidden points are left out of what is told."""
    found = result(autograder, {"Übung (α).py": WRONG})
    assert [row["score"] for row in found["tests"]] == [4, 2, 0, 0]
    assert ": 6 of 7 public points." in found["output"]
    assert rows(found)[:3] == [
        ("Two follows one.", 4),
        ("Fourteen follows thirteen.", 2),
        ("Three follows two.", 1),
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_earns_nothing(autograder, name):
    """It leaves no result of its own, reads nothing, and says nothing to whoever prints a log."""
    places = [str(autograder.root / name) for name in ("results", "source", "source/kit/solutions")]
    places += [str(autograder.root / "submission_metadata.json"), str(autograder.result)]
    found = result(autograder, {"answer.py": f"PLACES = {places!r}\n{HOSTILE[name]}"})
    assert found["score"] == 0
    assert len(rows(found)) == 4
    text = autograder.result.read_text(encoding="ascii")
    for secret in ("GOT", "SECRETUSER", "hidden.py", "TAKEN"):
        assert secret not in text
    assert commands(text) == []
    is_loaded = name.startswith("reads")
    assert found["extra_data"]["state"] == ("graded" if is_loaded else "not_loaded")
    assert is_loaded is ("PermissionError" in found["output"])


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"notes.txt": "later"}, "No Python file, only notes.txt"),
        ({"a.py": kits.RIGHT, "b.py": kits.RIGHT}, "2 files for "),
    ],
)
def test_what_is_no_single_file_is_explained(autograder, files, words):
    """With no points, and the learner is told what to hand in."""
    found = result(autograder, files)
    assert (found["score"], found["extra_data"]["state"]) == (0, "unreadable")
    assert rows(found) == [("Could not be graded", 10)]
    assert found["output"].startswith(f"This file could not be graded. {words}")
    assert str(autograder.root) not in found["output"]


@pytest.mark.parametrize(
    "broken", ["import sys\nsys.exit(3)\n", "import os\nos.kill(os.getpid(), 9)\n", "import x y\n"]
)
def test_a_broken_grader_leaves_a_result(autograder, kit, broken):
    """It is none of the last student's: nothing was graded, and the fault is the grader's."""
    main = autograder.root / "source/kit/grader/__main__.py"
    text = main.read_text(encoding="utf-8")
    main.write_text(broken, encoding="utf-8")
    try:
        left = autograder.grade({"answer.py": kits.RIGHT})
    finally:
        main.write_text(text, encoding="utf-8")
    assert left == packages.fault("gradescope", kit)
    found = read("gradescope", left)
    assert (found["score"], found["extra_data"]["state"]) == (0, "fault")
    assert "The fault is in the grader, not in the file" in found["output"]


def test_a_missing_python_leaves_a_result(autograder):
    """Where the image was not set up, too."""
    bare = replace(
        autograder, environment={**autograder.environment, "KIT_PYTHON": "/nowhere/python"}
    )
    assert result(bare, {"answer.py": kits.RIGHT})["extra_data"]["state"] == "fault"


def test_there_is_a_result_at_any_moment(autograder, kit):
    """From the first moment on, and after everything was killed in the middle of a grading."""
    autograder.hand_in({"answer.py": HOSTILE["never ends"]})
    script = subprocess.Popen(
        autograder.argv(),
        env=autograder.surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    graders: list[kits.Process] = []
    deadline = time.monotonic() + 60
    while not graders and time.monotonic() < deadline:
        time.sleep(0.02)
        graders = [
            each
            for each in kits.processes()
            if "-m grader" in each.command
            and "timeout" not in each.command
            and str(autograder.root) in each.command
            and kits.zygotes(each.pid)
        ]
    fault = packages.fault("gradescope", kit)
    assert autograder.result.read_text(encoding="ascii") == fault
    script.kill()
    script.wait(timeout=20)
    for each in graders:
        os.kill(each.pid, signal.SIGKILL)
    assert graders
    assert autograder.result.read_text(encoding="ascii") == fault


# ---- where something was lost on the way


@pytest.mark.parametrize("lost", packages.LOST)
def test_a_package_without_its_hidden_checks_grades_nobody(autograder, kit, folder, lost):
    """A right file has no full marks of what is left, but the fault of whoever set it up."""
    broken = packages.without(autograder, folder, kit, lost, "source", "KIT_AUTOGRADER")
    broken.hand_in({"answer.py": kits.RIGHT})
    done = broken.run()
    assert done.returncode == 0
    assert ("hidden" in done.stderr) or lost == "the problem", done.stderr
    left = broken.result.read_text(encoding="ascii")
    assert (left == packages.fault("gradescope", kit)) or lost == "a check"
    assert read("gradescope", left)["extra_data"]["state"] == "fault"


def test_a_problem_without_hidden_checks_asks_for_none(tmp_path):
    """Its package grades as any other does."""
    kit = kits.write_kit(tmp_path / "kit", solution=kits.RIGHT)
    gradescope.write(kits_of_grader.find(kit.root), tmp_path / "out.zip", None)
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert b"hidden --" not in archive.read("grade.sh")
        assert b"--require-isolation" in archive.read("grade.sh")


# ---- where nothing can be written


@pytest.mark.parametrize("disk", full_disks.DISKS)
def test_a_disk_that_is_full_leaves_no_other_result(autograder, disk):
    """Neither an earlier one nor an empty file; and only with a result is the exit code 0."""
    autograder.hand_in({"answer.py": kits.RIGHT})
    autograder.result.unlink()
    left = full_disks.left_by(
        autograder.argv(), autograder.surroundings(), disk, autograder.results, OLD
    )
    if full_disks.DISKS[disk].holds_fault:
        state = "graded" if full_disks.DISKS[disk].holds_result else "fault"
        assert (left.code, read("gradescope", left.result)["extra_data"]["state"]) == (0, state)
    else:
        assert (left.code, left.result) == (3, None)
        assert "results.json: cannot be written; there is no result" in left.told


@pytest.mark.parametrize("kind", planted.KINDS)
def test_what_lies_in_the_way_of_a_result_is_removed(autograder, tmp_path, kind):
    """Whatever it is: nothing is written through it, and nobody waits for it."""
    autograder.hand_in({"answer.py": kits.RIGHT})
    spared = planted.plant(kind, autograder.results, tmp_path)
    assert autograder.run().returncode == 0
    document = read("gradescope", autograder.result.read_text("ascii"))
    assert document["extra_data"]["state"] == "graded"
    assert not autograder.result.is_symlink()
    assert spared.read_text(encoding="utf-8") == "mine"
    assert [path.name for path in autograder.results.iterdir()] == ["results.json"]


def test_a_folder_for_results_that_is_a_link_keeps_its_mode(autograder, tmp_path):
    """The mode that is put back is that of the folder, not of the link, which anybody may write."""
    autograder.hand_in({"answer.py": kits.RIGHT})
    shutil.rmtree(autograder.results)
    place = tmp_path / "place"
    place.mkdir(mode=0o755)
    autograder.results.symlink_to(place)
    assert autograder.run().returncode == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o755
    assert (place / "results.json").is_file()
    autograder.results.unlink()


def test_a_folder_for_results_that_is_taken_away_is_no_success(autograder):
    """While a file is graded that never ends: with exit code 0 there would have to be a result."""
    autograder.hand_in({"answer.py": packages.HOSTILE["never ends"]})
    running = subprocess.Popen(autograder.argv(), env=autograder.surroundings())
    while not [*autograder.results.glob(".grade-*")]:
        time.sleep(0.05)
        assert running.poll() is None
    shutil.rmtree(autograder.results)
    assert running.wait(120) == 3


def test_without_a_place_for_results_there_is_no_success(autograder):
    """A file in the place of the folder, which the script cannot make then."""
    autograder.hand_in({"answer.py": kits.RIGHT})
    shutil.rmtree(autograder.results)
    autograder.results.write_text("mine", encoding="utf-8")
    done = autograder.run()
    assert (done.returncode, autograder.results.read_text(encoding="utf-8")) == (3, "mine")
    autograder.results.unlink()


def test_what_was_not_mounted_is_not_the_learners(autograder, kit):
    """No folder with a submission at all is no submission without a file."""
    autograder.hand_in({})
    autograder.handed_in.rmdir()
    assert autograder.run().returncode == 0
    assert autograder.result.read_text(encoding="ascii") == packages.fault("gradescope", kit)


# ---- as another user


@as_root
def test_another_user_sees_no_secret(autograder):
    """While a file is graded, whoever is not root gets into none of the closed places."""
    places = [autograder.root / name for name in ("source", "results", "submission")]
    files = [autograder.root / "submission_metadata.json", autograder.result]
    main = autograder.root / "source/kit/grader/__main__.py"
    text = main.read_text(encoding="utf-8")
    main.write_text(
        "import os\n"
        f"os.setgid({NOBODY})\nos.setuid({NOBODY})\n"
        f"for path in {[str(path) for path in places + files]!r}:\n"
        "    for look in (os.listdir, open, lambda path: open(path + '/x', 'w')):\n"
        "        try:\n"
        "            look(path)\n"
        "            print('GOT', path)\n"
        "        except OSError as error:\n"
        "            print(type(error).__name__)\n",
        encoding="utf-8",
    )
    try:
        autograder.hand_in({"answer.py": kits.RIGHT})
        done = autograder.run()
    finally:
        main.write_text(text, encoding="utf-8")
    assert done.stdout.count("PermissionError") >= 10, done.stdout
    assert "GOT" not in done.stdout


@as_root
def test_it_runs_without_root(autograder, python, folder):
    """On a machine where the script has no rights to spare, submissions are locked all the same."""
    root = folder / "nobodys"
    shutil.copytree(autograder.root, root)
    environment = {"KIT_AUTOGRADER": str(root), "KIT_PYTHON": python}
    nobodys = Platform(root, root / "submission", root / "run_autograder", environment)
    nobodys.hand_in({"answer.py": f"PLACES = ['{root}/source']\n{EVERYTHING}"})
    packages.give_to_nobody(root)
    done = nobodys.run(user=NOBODY)
    assert done.returncode == 0, done.stderr
    text = nobodys.result.read_text(encoding="ascii")
    found = read("gradescope", text)
    assert (found["score"], found["extra_data"]["state"]) == (0, "graded"), done.stdout
    assert "GOT" not in text
    assert "own user" not in done.stdout
    assert OLD not in text
