"""A learner's file: what is read, what is refused and in which words, and what its name tells."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader import submission_file
from grader.faults import UsageError
from tests.conftest import ROOT


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        submission_file.read(path)
    return str(caught.value)


def test_a_file_is_read_with_its_name_hash_and_size(tmp_path):
    """The name has no folders, the hash and the size are those of the bytes on disk."""
    path = tmp_path / "verify.py"
    path.write_bytes(b"x = 1\n")
    source = submission_file.read(path)
    assert source.name == "verify.py"
    assert source.text == "x = 1\n"
    assert (source.sha256, source.size) == (hashlib.sha256(b"x = 1\n").hexdigest(), 6)


def test_a_name_that_controls_a_terminal_is_cleaned(tmp_path):
    """A learner chooses the name, and reports show it."""
    path = tmp_path / "verify_\x1b[31m\u202e\n.py"
    path.touch()
    assert submission_file.read(path).name == "verify_ .py"


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path):
    """An editor's habits cost nothing: the text is what Python would read."""
    path = tmp_path / "verify.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 'caf\xc3\xa9'\r")
    assert submission_file.read(path).text == "x = 1\ny = 'café'\n"


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_refused(tmp_path):
    """The limit is 256 KiB and is told."""
    path = tmp_path / "verify.py"
    path.write_bytes(b"#" * (256 * 1024))
    assert submission_file.read(path).size == 256 * 1024
    path.write_bytes(b"#" * (256 * 1024 + 1))
    assert "262,145 bytes; a submission may have 256 KiB" in refusal(path)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("x = 1".encode("utf-16"), "saved as UTF-16; save it as UTF-8"),
        ("x = 1".encode("utf-16-be"), "has a NUL byte on line 1"),
        (b"x = 1\ny = '\0'\n", "has a NUL byte on line 2"),
        (b"x = 1\n# caf\xe9\n", "not UTF-8: byte 0xe9 on line 2; save it as UTF-8"),
    ],
)
def test_what_is_not_utf8_text_is_refused_with_the_place(tmp_path, data, words):
    """Another encoding is named, or the line of the first byte that cannot be read."""
    path = tmp_path / "verify.py"
    path.write_bytes(data)
    assert words in refusal(path)


def test_a_missing_file_is_named_with_what_to_do(tmp_path):
    """The message says which file and how to begin one."""
    assert "verify.py: no such file; check the name" in refusal(tmp_path / "verify.py")


def test_a_path_through_a_file_is_explained(tmp_path):
    """`step.py/verify.py` is no file, and the reason is told."""
    (tmp_path / "step.py").touch()
    assert "part of this path is a file" in refusal(tmp_path / "step.py" / "verify.py")


def test_a_folder_is_not_a_submission(tmp_path):
    """A folder is refused in its own words."""
    assert "a folder, not a file; give the Python file inside it" in refusal(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path):
    """A named pipe that nobody writes to would otherwise hold the command up for ever."""
    os.mkfifo(tmp_path / "verify.py")
    assert "not an ordinary file" in refusal(tmp_path / "verify.py")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_device_is_refused():
    """A file without an end is never read."""
    assert "not an ordinary file" in refusal(Path("/dev/zero"))


@pytest.mark.skipif(sys.platform == "win32", reason="permissions mean something else there")
def test_a_file_that_may_not_be_read_is_explained(tmp_path):
    """Missing permission is told apart from a missing file."""
    path = tmp_path / "verify.py"
    path.touch(mode=0)
    # The administrator may read everything, so the reader becomes nobody first.
    reader = (
        "import os, pathlib, sys\n"
        "from grader import faults, submission_file\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "try: submission_file.read(pathlib.Path(sys.argv[1]))\n"
        "except faults.UsageError as error: print(error)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", reader, path], cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert told.stdout == f"{path}: may not be read; allow it with chmod u+r, or save a copy\n"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="this system has no /proc")
def test_a_file_that_breaks_while_it_is_read_is_explained():
    """An input error in the middle is a message, not a traceback."""
    assert "cannot be read (Input/output error)" in refusal(Path("/proc/self/mem"))


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("verify.py", "verify"),
        ("verify_numpy.py", "verify"),
        ("verify-final.py", "verify"),
        ("top-k.py", "top-k"),
        ("top-k_mine.py", "top-k"),
        ("top_mine.py", "top"),
        ("verify2.py", None),
        ("my_verify.py", None),
        ("Verify.py", "verify"),
        ("verify (1).py", "verify"),
        ("verify(2).py", "verify"),
        ("verify.old.py", None),
    ],
)
def test_the_name_tells_the_problem(name, slug):
    """A slug is the stem, or what stands before `_`, `-` or a space; of several the longest."""
    assert submission_file.problem_of(Path("any") / name, ["verify", "top", "top-k"]) == slug


@pytest.mark.parametrize(
    ("text", "library"),
    [
        ("import torch\n", "torch"),
        ("import numpy as np\n", "numpy"),
        ("import numpy as np\nimport torch\n", "torch"),
        ("import numpy as np, torch\n", "torch"),
        ("import os; import numpy\n", "numpy"),
        ("from numpy.typing import NDArray\n", "numpy"),
        ("from torch import Tensor\nimport numpy\n", "torch"),
        ("def f():\n    import numpy\n", "numpy"),
        ("import torchvision\nimport numpy\n", "numpy"),
        ("import math as torch\nimport numpy\n", "numpy"),
        ("# import numpy\n", "torch"),
        ("import math\n", "torch"),
        ("", "torch"),
    ],
)
def test_the_imports_tell_the_library(text, library):
    """PyTorch if it is imported, NumPy if that alone is, else the problem's first library."""
    assert submission_file.library_of(text, ("torch", "numpy")) == library


def test_a_library_that_is_not_offered_is_never_guessed():
    """A file that imports NumPy is still graded in the one library a problem has."""
    assert submission_file.library_of("import numpy\n", ("torch",)) == "torch"


def test_a_library_that_is_not_offered_can_not_be_chosen():
    """Asking for it is the user's mistake, answered with what there is."""
    source = submission_file.SubmissionSource(name="step.py", text="", sha256="", size=0)
    with pytest.raises(UsageError, match="'step' is not offered in numpy, only in torch"):
        submission_file.chosen_library("numpy", source, "step", ("torch",))


def test_an_import_in_a_docstring_tells_nothing():
    """A line of a docstring that begins like an import is no import."""
    text = '"""How to use it:\n\nimport torch\n"""\nimport numpy as np\n'
    assert submission_file.library_of(text, ("torch", "numpy")) == "numpy"


def test_a_link_is_followed_inside_its_folder_only(tmp_path):
    """A link to a file beside or below it is read as that file; one that leads out is refused."""
    outside = tmp_path / "solutions" / "verify.py"
    folder = tmp_path / "handed_in"
    for path in (outside, folder / "below" / "mine.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")
    (folder / "inside.py").symlink_to("below/mine.py")
    for name, target in (("out.py", outside), ("up.py", "../solutions/verify.py")):
        (folder / name).symlink_to(target)

    assert submission_file.read(folder / "inside.py").text == "x = 1\n"
    for name in ("out.py", "up.py"):
        with pytest.raises(UsageError, match="a link to a file outside its folder; hand in the"):
            submission_file.read(folder / name)


def test_a_link_to_nowhere_says_so(tmp_path):
    """A ring of links, and a link to a file that is not there, are told and not waited for."""
    (tmp_path / "ring.py").symlink_to("ring.py")
    (tmp_path / "gone.py").symlink_to("nothing.py")

    for name in ("ring.py", "gone.py"):
        with pytest.raises(UsageError, match=rf"{name}: a link that leads nowhere"):
            submission_file.read(tmp_path / name)


def test_a_file_whose_size_is_told_wrongly_is_read_whole(tmp_path, monkeypatch):
    """Some file systems say 0, and a file may have grown since it was looked at."""
    (tmp_path / "mine.py").write_text("x = 1\n", encoding="utf-8")
    told = os.fstat
    monkeypatch.setattr(
        os, "fstat", lambda number: os.stat_result((*told(number)[:6], 0, *told(number)[7:10]))
    )
    found = submission_file.read(tmp_path / "mine.py")
    assert (found.text, found.size) == ("x = 1\n", 6)
