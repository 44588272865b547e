"""The autograder for Classroom 50: started in a learner's checkout, as its runner does."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests import learner_packages as packages
from tests.exports import commands, read
from tests.learner_packages import BROKEN, RUNNER_FILES, submissions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these platforms run on Linux")

FORGED = '{"schema": "classroom50/result/v1", "score": 7, "max-score": 7, "tests": []}'
IDENTITY = {
    "CLASSROOM": "ml",
    "ASSIGNMENT": "next",
    "SUBMISSION_TAG": "submit/2026-11-29T17-51-03Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/c",
    "RELEASE_URL": "https://example.org/r",
    "REVIEW_URL": "https://example.org/v",
}


class Bundle:
    """The folder that is published, and its kit, installed apart."""

    def __init__(self, folder: Path) -> None:
        self.kit = packages.kit(folder / "kit")
        self.slug = self.kit.slug
        self.root = folder / "bundle"
        made = packages.export_package(self.kit.root, "classroom50", self.root)
        assert made.exception is None, made.exception
        self.site = folder / "site"
        environment = packages.site_environment(self.site) | packages.install_environment(self.site)
        done = packages.run(
            ["pip", "install", "--quiet", "-c", "constraints.txt", "./kit.tar.gz"],
            self.root,
            environment | {"HOME": str(folder)},
        )
        assert done.returncode == 0, done.stderr

    def run(self, folder: Path, source: str | None, *, forged: bool = True, **environment: str):
        """The runner's call, in a checkout with modules of the learner's and a result that is
        forged, if that has not been put there already."""
        checkout = folder / "checkout"
        checkout.mkdir(exist_ok=True)
        files = {
            **({"result.json": FORGED} if forged else {}),
            "subprocess.py": "raise Boom\n",
            "grader.py": "raise Boom\n",
        }
        if source is not None:
            files[f"{self.slug}.py"] = source
        for name, text in files.items():
            (checkout / name).write_text(text, encoding="utf-8")
        for name in RUNNER_FILES:
            (folder / name).touch()
        return packages.run(
            [sys.executable, str(self.root / "autograder.py")],
            checkout,
            {
                **packages.site_environment(self.site),
                **IDENTITY,
                **{name: str(folder / name) for name in RUNNER_FILES},
                "GITHUB_TOKEN": "SECRETTOKEN",
                "KIT_PYTHON": sys.executable,
                **environment,
            },
        )


@pytest.fixture(name="bundle", scope="module")
def _bundle(tmp_path_factory) -> Bundle:
    return Bundle(tmp_path_factory.mktemp("bundle"))


def test_it_is_the_script_the_kit_and_a_note(bundle):
    """Nothing else is published, and nothing secret."""
    held = packages.files_under(bundle.root)
    assert {*held} == {
        *("autograder.py", "kit.tar.gz", "constraints.txt", "README.md", "PACKAGE.sha256"),
    }
    assert not re.search(rb"\{\{ \w+ \}\}", held["autograder.py"] + held["README.md"])
    unpacked = packages.unpacked(held)
    assert any(name.endswith(f"/problems/{bundle.slug}/checks.py") for name in unpacked)
    assert [name for name, data in unpacked.items() if b"SECRET" in data] == []


@pytest.mark.parametrize("kind", submissions())
def test_a_submission_has_the_points_it_earned(bundle, tmp_path, kind):
    """Exit code 0, a result with all rows, whatever it does; no file of the runner's is written."""
    names = (*RUNNER_FILES, "checkout/result.json", "checkout/release-body.md")
    submission = submissions(*(tmp_path / name for name in names))[kind]
    done = bundle.run(tmp_path, submission.source)
    assert done.returncode == 0, done.stderr
    document = read("classroom50", (tmp_path / "checkout/result.json").read_text("utf-8"))
    assert (document["score"], document["max-score"]) == (submission.earned, 7)
    assert [row["max-score"] for row in document["tests"]] == [4, 2, 1]
    assert (document["submission"], document["review"]) == (
        IDENTITY["SUBMISSION_TAG"],
        IDENTITY["REVIEW_URL"],
    )
    assert [(tmp_path / name).read_text("utf-8") for name in RUNNER_FILES] == [""] * 4
    assert not (tmp_path / "checkout/release-body.md").exists()
    assert commands(done.stdout + done.stderr) == []


def test_a_missing_file_earns_nothing(bundle, tmp_path):
    """There is a result, in place of the one that was committed, and it says what is missing."""
    assert bundle.run(tmp_path, None).returncode == 0
    document = read("classroom50", (tmp_path / "checkout/result.json").read_text("utf-8"))
    assert (document["score"], document["max-score"]) == (0, 7)
    (row,) = document["tests"]
    assert not row["passed"]
    assert f"{bundle.slug}.py: no such file" in row["message"]


@pytest.mark.parametrize("kind", ["a folder", "a link to a folder", "a link to nowhere"])
def test_whatever_is_called_like_the_result_gives_way(bundle, tmp_path, kind):
    """A learner may have committed anything there; where a link leads nothing is touched."""
    planted, elsewhere = tmp_path / "checkout/result.json", tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    if kind == "a folder":
        (planted / "deep").mkdir(parents=True)
        (planted / "deep/result.json").write_text(FORGED, encoding="utf-8")
    else:
        planted.parent.mkdir()
        planted.symlink_to(elsewhere if kind == "a link to a folder" else "nowhere")
    done = bundle.run(tmp_path, submissions()["right"].source, forged=False)
    assert done.returncode == 0, done.stderr
    assert planted.is_file()
    assert not planted.is_symlink()
    assert read("classroom50", planted.read_text("utf-8"))["score"] == 7
    assert [path.name for path in elsewhere.iterdir()] == ["deep"]


def test_what_is_not_the_learners_leaves_no_result(bundle, tmp_path):
    """A set-up in which nothing can be graded is an error of the autograder, with nothing left."""
    done = bundle.run(tmp_path, submissions()["right"].source, PYTHONOPTIMIZE="2")
    assert (done.returncode, "unset PYTHONOPTIMIZE" in done.stderr) == (3, True)
    assert not (tmp_path / "checkout/result.json").exists()


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_grader_leaves_no_result(bundle, tmp_path, kind):
    """Neither its own nor the one that was committed, and an exit code that is an error."""
    path = packages.broken_path(tmp_path / "bin", kind).split(":")[0]
    done = bundle.run(tmp_path, submissions()["right"].source, KIT_PYTHON=f"{path}/grade")
    assert done.returncode != 0
    assert not (tmp_path / "checkout/result.json").exists()


def test_a_kit_that_cannot_be_installed_leaves_no_result(bundle, tmp_path):
    """It is an error of the autograder, which the runner tells."""
    done = bundle.run(
        tmp_path,
        submissions()["right"].source,
        KIT_PYTHON="",
        PIP_NO_INDEX="1",
        PIP_CONFIG_FILE=os.devnull,
        RUNNER_TEMP=str(tmp_path),
    )
    assert done.returncode == 1
    assert "the kit could not be installed (exit code 1)" in done.stderr
    assert not (tmp_path / "checkout/result.json").exists()
