"""The `grade` command as a user meets it: real processes, real files, exit codes and words."""

import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest

from grader import kit as kits
from grader import limits
from grader import problem as problems
from grader.faults import UsageError
from tests import kits as kits_on_disk
from tests.conftest import CHECKS, ROOT, TOML

RIGHT = "def double(x):\n    return 2 * x\n"
WRONG = "def double(x):\n    return abs(x) * 2\n"


def write(grade, name, text):
    path = grade.folder / name
    path.write_text(text, encoding="utf-8")
    return path


def in_a_terminal(grade, *arguments, **environment):
    """What the command writes to a terminal of 100 columns, and its exit code."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        grade.argv(*arguments),
        cwd=grade.folder,
        env=grade.environment | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    shown, deadline = b"", time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([master], [], [], 0.1)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:  # what Linux says when the last writer is gone
                break
            if not part:
                break
            shown += part
    os.close(master)
    return shown.decode("utf-8").replace("\r\n", "\n"), process.wait(timeout=10)


# --- help, list, show -----------------------------------------------------------------------------


def test_help_tells_the_commands_and_the_exit_codes(grade):
    """A user who knows nothing finds the next command and what the exit codes mean."""
    result = grade("--help")
    assert result.returncode == 0
    for words in (
        "list",
        "show",
        "start",
        "hint",
        "run",
        "Exit codes:",
        "2  the request is at fault",
    ):
        assert words in result.stdout


@pytest.mark.parametrize("command", ["list", "show", "start", "hint", "run"])
def test_every_command_explains_itself(grade, command):
    """Each has a help of its own, with a sentence that says what it does."""
    result = grade(command, "--help")
    assert result.returncode == 0
    assert re.search(r"\n\n  [A-Z][^\n]+\.\n", result.stdout)


def test_the_version_is_told(grade):
    """The version is the package's."""
    assert re.fullmatch(r"grade \d+\.\d+\.\d+\n", grade("--version").stdout)


def test_the_problems_are_listed(grade, make_kit):
    """Name, title, libraries and summary of every problem, and what to do next."""
    result = grade("--kit", make_kit(), "list")
    assert result.stdout == (
        "double  Double a number (torch, numpy)\n"
        "        Return twice the number given.\n"
        "\n"
        "Read one: grade show double\n"
    )


def test_a_page_is_shown_with_readable_formulas(grade, make_kit):
    """Piped, a page is its text with the formulas in Unicode."""
    kit = make_kit()
    assert grade("--kit", kit, "show", "double").stdout == "# Double\n\nReturn 2x.\n"
    assert grade("--kit", kit, "show", "double", "--learn").stdout == "# Doubling\n\nSee x + x.\n"


@pytest.mark.parametrize("page", [[], ["--learn"]])
def test_a_page_is_laid_out_on_a_terminal(grade, page):
    """On a terminal the page has colour and no Markdown left; with NO_COLOR it is plain."""
    shown, code = in_a_terminal(grade, "show", "verify", *page)
    assert code == 0
    assert "\x1b[" in shown
    assert "\n# " not in shown
    plain, _ = in_a_terminal(grade, "show", "verify", *page, NO_COLOR="1")
    assert "\x1b[" not in plain


# --- start ----------------------------------------------------------------------------------------


def test_a_stub_is_written_and_the_next_command_told(grade):
    """The stub is the template, byte for byte, and the command that grades it can be pasted."""
    result = grade("start", "verify")
    assert (grade.folder / "verify.py").read_bytes() == (ROOT / "templates/verify.py").read_bytes()
    assert result.stdout == (
        "Wrote verify.py (torch).\nFill in speculative_decode_step, then: grade run verify.py\n"
    )


def test_a_stub_can_be_had_in_another_library_and_place(grade):
    """A library and a name of one's own; the next command says what the name does not tell."""
    (grade.folder / "my work").mkdir()
    result = grade("start", "verify", "my work/mine.py", "--library", "numpy")
    stub = (ROOT / "templates/verify_numpy.py").read_bytes()
    assert (grade.folder / "my work/mine.py").read_bytes() == stub
    assert "grade run 'my work/mine.py' --problem verify" in result.stdout
    assert grade("start", "verify", "my work", "--library", "numpy").returncode == 0
    assert (grade.folder / "my work/verify_numpy.py").read_bytes() == stub


def test_a_file_is_never_overwritten(grade):
    """What is there stays as it is, and another name is offered."""
    path = write(grade, "verify.py", "my work of a week\n")
    result = grade("start", "verify")
    assert result.returncode == 2
    assert "verify.py: there already, and never overwritten" in result.stderr
    assert path.read_text(encoding="utf-8") == "my work of a week\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere/verify.py"], "there is no folder nowhere; make it first"),
        (["verify.txt"], "not the name of a Python file; say verify.py"),
        (["verify.py", "--library", "jax"], "'jax' is not one of 'torch', 'numpy'"),
    ],
)
def test_a_stub_that_cannot_be_written_is_explained(grade, arguments, words):
    """Where it was to go, and what to do."""
    result = grade("start", "verify", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr


def test_a_library_without_a_stub_is_explained(grade):
    """A problem in one library says so."""
    result = grade("start", "step", "--library", "numpy")
    assert result.returncode == 2
    assert "problem 'step' is not offered in numpy, only in torch" in result.stderr


# --- hint -----------------------------------------------------------------------------------------


def test_hints_come_one_by_one_and_are_remembered(grade, make_kit):
    """Each call gives the next; after the last it is given again; --reset begins anew."""
    kit = make_kit()
    hint = ("--kit", kit, "hint", "double")
    assert grade(*hint).stdout == "Hint 1 of 2: Adding counts as doubling.\n"
    last = "Hint 2 of 2: x + x\nThat is the last one. All again: grade hint double --all\n"
    assert grade(*hint).stdout == last
    assert grade(*hint).stdout == last
    assert grade(*hint, "--reset").returncode == 0
    assert grade(*hint).stdout == "Hint 1 of 2: Adding counts as doubling.\n"


def test_all_hints_can_be_had_at_once(grade, make_kit):
    """In order, each with its number."""
    result = grade("--kit", make_kit(), "hint", "double", "--all")
    assert result.stdout == "Hint 1 of 2: Adding counts as doubling.\nHint 2 of 2: x + x\n"


@pytest.mark.parametrize(
    "state", ["not JSON", "[]", '{"kit/double": "many"}', '{"kit/double": -4}']
)
def test_a_broken_memory_of_hints_begins_anew(grade, make_kit, state):
    """What cannot be read counts as none read."""
    path = grade.folder / "state/speculative-exercises/hints.json"
    path.parent.mkdir(parents=True)
    path.write_text(state, encoding="utf-8")
    assert grade("--kit", make_kit(), "hint", "double").stdout.startswith("Hint 1 of 2:")
    assert json.loads(path.read_text(encoding="utf-8")) == {"kit/double": 1}


def test_a_hint_that_cannot_be_remembered_is_still_given(grade, make_kit):
    """An unwritable state folder is told and stops nothing."""
    write(grade, "state", "a file where the folder should be")
    result = grade("--kit", make_kit(), "hint", "double")
    assert result.stdout.startswith("Hint 1 of 2:")
    assert "this could not be remembered for next time" in result.stderr
    assert result.returncode == 0


# --- run: what is asked wrongly -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verify.py"], "verify.py: no such file; check the name"),
        (["."], ".: its name does not tell the problem; say --problem with double"),
        (["empty", "--problem", "double"], "empty: nothing was handed in"),
        (["two", "--problem", "double"], "2 files for 'double': a.py, b.py; leave the one"),
        (["mine.py"], "its name does not tell the problem; say --problem with double"),
        (["double.py", "--problem", "duoble"], "did you mean 'double'?"),
        (["double.py", "--library", "jax"], "'jax' is not one of"),
        (["double.py", "--json", "nowhere/score.json"], "there is no folder nowhere"),
        (["double.py", "--json", "."], "--json .: a folder; give a file name in it"),
        (["double.py", "--json", "double.py"], "that is the submission itself"),
        (["double.py", "--json", "/dev/null"], "not an ordinary file"),
        (["double.py", "--json", "/proc/score.json"], "cannot be written"),
        (["double.py", "--json", "x" * 300], "cannot be written (File name too long)"),
        (["double.py", "--seed", "-1"], "-1 is not in the range"),
        (["utf16.py", "--problem", "double"], "saved as UTF-16"),
        (["nul.py", "--problem", "double"], "has a NUL byte on line 1"),
        (["large.py", "--problem", "double"], "a submission may have 256 KiB"),
        ([], "Missing argument 'FILE'"),
    ],
)
def test_a_request_that_cannot_be_met_is_explained_with_exit_code_2(
    grade, make_kit, arguments, words
):
    """Where, what and what to do; nothing is graded, and no file is touched."""
    write(grade, "double.py", RIGHT)
    write(grade, "mine.py", RIGHT)
    (grade.folder / "utf16.py").write_text(RIGHT, encoding="utf-16")
    (grade.folder / "nul.py").write_bytes(b"x = '\0'")
    (grade.folder / "large.py").write_bytes(b"#" * 300_000)
    (grade.folder / "empty").mkdir()
    (grade.folder / "two").mkdir()
    for name in ("a.py", "b.py"):
        write(grade, f"two/{name}", RIGHT)
    before = sorted(path.name for path in grade.folder.iterdir())
    result = grade("--kit", make_kit(), "run", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(path.name for path in grade.folder.iterdir()) == before
    assert (grade.folder / "double.py").read_text(encoding="utf-8") == RIGHT


@pytest.mark.parametrize("name", ["mine.py", "Double (1).py", "double/answer.py"])
def test_the_one_file_in_a_folder_is_graded(grade, make_kit, name):
    """Found as in a class: the one whose name tells the problem, or the only one; tests apart."""
    for other in ("notes.txt", "test_mine.py", ".git/hook.py"):
        (grade.folder / "in" / other).parent.mkdir(parents=True, exist_ok=True)
        write(grade, f"in/{other}", "")
    (grade.folder / "in" / name).parent.mkdir(exist_ok=True)
    write(grade, f"in/{name}", RIGHT)
    result = grade("--kit", make_kit(), "run", "in", "--problem", "double")
    assert result.returncode == 0, result.stderr
    assert f"File: {name.rpartition('/')[2]} with" in result.stdout


def test_a_name_of_a_file_cannot_steer_the_terminal(grade, make_kit):
    """What a file is called is shown without its escape sequences, in a refusal and in a score."""
    run = ("--kit", make_kit(), "run", "--problem", "double")
    assert "\x1b" not in grade(*run, "\x1b[31mred\u202e.py").stderr
    write(grade, "\x1b[31mred\u202e.py", RIGHT)
    result = grade(*run, "\x1b[31mred\u202e.py", "--json", "-")
    assert json.loads(result.stdout)["submission"]["file"] == "red.py"
    assert not {*"\x1b\u202e"} & {*result.stderr}


def test_a_library_the_problem_does_not_offer_is_refused(grade):
    """`step` is for PyTorch only."""
    write(grade, "step.py", "import numpy\n")
    result = grade("run", "step.py", "--library", "numpy")
    assert result.returncode == 2
    assert "problem 'step' is not offered in numpy, only in torch" in result.stderr


def test_an_old_score_is_gone_even_if_nothing_can_be_graded(grade, make_kit):
    """A stale score can never be read for the new one."""
    write(grade, "score.json", '{"score": 999}')
    assert grade("--kit", make_kit(), "run", "double.py", "--json", "score.json").returncode == 2
    assert not (grade.folder / "score.json").exists()


def test_a_folder_that_is_no_kit_is_refused(grade):
    """The folder must hold problems."""
    result = grade("--kit", ".", "list")
    assert result.returncode == 2
    assert "not a kit, it has no folder 'problems'" in result.stderr


# --- run: grading ---------------------------------------------------------------------------------


def test_full_marks_exit_with_0(grade, make_kit, valid_score):
    """The screen tells each check, and the score is written as the schema says."""
    write(grade, "double.py", RIGHT)
    result = grade("--kit", make_kit(), "run", "double.py", "--json", "score.json")
    assert (result.returncode, result.stderr) == (0, "")
    assert "  pass   1/1  Two becomes four.\n" in result.stdout
    assert "Score:        3 of 3\nVerdict:      correct\n" in result.stdout
    score = valid_score((grade.folder / "score.json").read_text(encoding="utf-8"))
    assert (score["score"], score["max_score"], score["passed"]) == (3, 3, True)
    assert score["submission"]["file"] == "double.py"
    assert [path.name for path in grade.folder.glob("*.tmp")] == []


def test_lost_points_exit_with_1(grade, make_kit, valid_score):
    """A failure tells what was expected and what came, with the hint of the check."""
    write(grade, "double.py", WRONG)
    result = grade("--kit", make_kit(), "run", "double.py", "--json", "score.json")
    assert (result.returncode, result.stderr) == (1, "")
    assert "  FAIL   0/2  A number below zero becomes twice as far from zero.\n" in result.stdout
    assert "expected -6, got 6" in result.stdout
    assert "Hint: A number below zero is doubled as well." in result.stdout
    score = valid_score((grade.folder / "score.json").read_text(encoding="utf-8"))
    assert (score["score"], score["verdict"]) == (1, "incorrect")


def test_json_alone_goes_to_the_output_and_the_screen_beside_it(grade, make_kit, valid_score):
    """With `--json -` a program can read the output while a person reads the rest."""
    write(grade, "double.py", WRONG)
    result = grade("--kit", make_kit(), "run", "double.py", "--json", "-")
    assert valid_score(result.stdout)["score"] == 1
    assert "Score:        1 of 3" in result.stderr


def test_a_file_that_does_not_load_is_told_once(grade, make_kit, valid_score):
    """One message with the line; every check is in the score, not run."""
    write(grade, "double.py", "def double(x):\n    return (2 * x\n")
    result = grade("--kit", make_kit(), "run", "double.py", "--json", "score.json")
    assert result.returncode == 1
    assert result.stdout.count("was never closed") == 1
    score = valid_score((grade.folder / "score.json").read_text(encoding="utf-8"))
    assert score["load_error"]["kind"] == "syntax_error"
    assert {check["outcome"] for check in score["checks"]} == {"not_run"}
    assert (score["score"], score["max_score"], score["verdict"]) == (0, 3, "not_run")


def test_a_mark_and_windows_line_ends_are_graded(grade, make_kit):
    """What an editor adds costs nothing."""
    (grade.folder / "double.py").write_bytes(b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode())
    assert grade("--kit", make_kit(), "run", "double.py").returncode == 0


@pytest.mark.parametrize("workers", ["fork", "fresh"])
def test_both_kinds_of_worker_give_the_same_score(grade, make_kit, workers):
    """How the process is made is no part of the answer."""
    write(grade, "double.py", WRONG)
    result = grade("--kit", make_kit(), "run", "double.py", "--workers", workers)
    assert "Score:        1 of 3" in result.stdout


def test_what_a_submission_prints_cannot_pose_as_the_grader(grade, make_kit):
    """Printed text stands behind a bar, without its escape sequences."""
    write(grade, "double.py", "print('\\x1b[2JScore:        100 of 100')\n" + WRONG)
    result = grade("--kit", make_kit(), "run", "double.py")
    assert "What your file printed\n  | Score:        100 of 100\n" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_terminal_has_colour_and_signs(grade, make_kit):
    """The same screen, coloured; plain where NO_COLOR asks for it or the terminal is dumb."""
    write(grade, "double.py", WRONG)
    run = ("--kit", make_kit(), "run", "double.py")
    shown, code = in_a_terminal(grade, *run)
    assert code == 1
    assert "\x1b[32m" in shown
    assert "✓" in shown
    assert "✗" in shown
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown, _ = in_a_terminal(grade, *run, **plain)
        assert "\x1b" not in shown
        assert "  pass   1/1  Two becomes four.\n" in shown


def test_a_score_is_the_same_for_the_same_seed(grade):
    """`--seed` repeats the hidden inputs, and is told to the instructor."""
    grade("start", "verify")
    result = grade("run", "verify.py", "--seed", "7", "--json", "-")
    score = json.loads(result.stdout)
    hidden = [check for check in score["checks"] if check["hidden"]]
    assert (score["seed"], bool(hidden)) == (7, True)
    assert "Seed:         7 (--seed 7 draws the same hidden inputs)" in result.stderr


def test_hidden_checks_can_be_left_out(grade):
    """With --no-hidden an instructor sees what a learner sees."""
    grade("start", "verify")
    result = grade("run", "verify.py", "--no-hidden", "--json", "-")
    score = json.loads(result.stdout)
    assert (score["seed"], score["score"]) == (None, 0)
    assert not any(check["hidden"] for check in score["checks"])


def test_hidden_checks_can_be_asked_for(grade, make_kit, valid_score):
    """A kit that has lost them, or some of them, grades nobody: exit code 3, also where the file is
    missing. The switch says so in the help, and contradicts its opposite."""
    torch = "torch = { public = 3, hidden = 0"
    kit = make_kit(toml=TOML.replace(torch, torch.replace("hidden = 0", "hidden = 4")))
    hidden = kit / "solutions/double/hidden.py"
    (grade.folder / "double.py").write_text("def double(x):\n    return 2 * x\n", "utf-8")
    run = ("--kit", kit, "run", "double.py", "--json", "score.json")
    assert grade(*run).returncode == 0
    for text, words in ((None, "hidden.py: not here"), ("", "hidden says 4, but the checks add")):
        if text is not None:
            hidden.parent.mkdir(parents=True)
            hidden.write_text(text, encoding="utf-8")
        for file in ("double.py", "gone/double.py") if text is None else ("double.py",):
            result = grade(*run[:3], file, *run[4:], "--require-hidden")
            assert (result.returncode, words in result.stderr) == (3, True), result.stderr
            error = valid_score((grade.folder / "score.json").read_text("utf-8"))["error"]
            assert words in error["message"]
    check = CHECKS.partition("@pytest.mark.points(2")[0].replace("points(1", "points(4")
    hidden.write_text(check, encoding="utf-8")
    result = grade(*run, "--require-hidden")
    assert (result.returncode, "Score:        7 of 7" in result.stdout) == (0, True), result.stderr
    result = grade(*run, "--require-hidden", "--no-hidden")
    assert (result.returncode, "contradict each other" in result.stderr) == (2, True)
    assert not (grade.folder / "score.json").exists()
    told = " ".join(grade("run", "--help").stdout.split())
    assert "--require-hidden Grade nobody (exit code 3) where this kit has no hidden checks" in told


@pytest.mark.parametrize(
    ("slug", "library"), [("verify", "torch"), ("verify", "numpy"), ("step", "torch")]
)
def test_the_references_get_full_marks(grade, valid_score, slug, library):
    """Every reference earns every point that the problem declares, extra credit included."""
    problem = problems.load(kits.find(), slug)
    points = problem.points[library]
    shutil.copy(problem.solution(library), grade.folder / f"{slug}.py")
    result = grade("run", f"{slug}.py", "--json", "-")
    assert result.returncode == 0, result.stderr
    score = valid_score(result.stdout)
    most = points.public + points.hidden
    assert (score["score"], score["max_score"], score["verdict"]) == (most, most, "correct")
    assert score["extra"] == {"earned": points.extra, "max": points.extra}
    assert str(ROOT) not in result.stdout


# --- run: what the shell allows -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "most", "told"),
    [
        ("t", 5, "processor time is limited to 5 s here, and grading needs 120 at least"),
        ("f", 100 << 10, "the size of files is limited to 100 KiB here, and grading needs 1024"),
        ("v", 1000 << 20, "address space is limited to 1000 MiB here, and grading needs 1012"),
    ],
)
def test_too_low_a_limit_of_the_shell_is_raised_or_told(monkeypatch, option, most, told):
    """A soft limit is raised as far as it may be; a hard one is told, with what to do about it."""
    which = {"t": resource.RLIMIT_CPU, "f": resource.RLIMIT_FSIZE, "v": resource.RLIMIT_AS}[option]
    none = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    now = {which: (most, resource.RLIM_INFINITY)}
    monkeypatch.setattr(resource, "getrlimit", lambda each: now.get(each, none))
    monkeypatch.setattr(resource, "setrlimit", now.__setitem__)
    limits.require(500)
    assert now == {which: none}

    def refuse(*_):
        raise ValueError("not allowed to raise maximum limit")

    now[which] = (most, most)
    monkeypatch.setattr(resource, "setrlimit", refuse)
    with pytest.raises(UsageError, match=f"{told}.*`ulimit -{option} unlimited` in a new shell"):
        limits.require(500)


@pytest.mark.parametrize(
    ("limit", "code", "told"),
    [
        ("-t 5", 2, "say `ulimit -t unlimited` in a new shell"),
        # More than is surely too little, and less than PyTorch with a submission.
        ("-v 1060000", 3, "(address space is limited to 1035 MiB here, which may be why"),
    ],
)
def test_a_limit_of_the_shell_is_no_fault_of_the_kit(grade, tmp_path, limit, code, told):
    """It is told what is too low before anything is graded, or else beside the fault."""
    tiny = kits_on_disk.write_kit(tmp_path / "kit")
    (grade.folder / "next.py").write_text(kits_on_disk.RIGHT, encoding="utf-8")
    words = ("--kit", tiny.root, "run", "next.py", "--problem", tiny.slug)
    ran = grade.under_limit(limit, *words)
    assert (ran.returncode, told in ran.stderr) == (code, True), ran.stderr


# --- run: what is broken is nobody's score --------------------------------------------------------


def fault(grade, valid_score, kit, *arguments):
    write(grade, "double.py", RIGHT)
    result = grade("--kit", kit, "run", "double.py", "--json", "score.json", *arguments)
    assert (result.returncode, result.stdout) == (3, "")
    document = valid_score((grade.folder / "score.json").read_text(encoding="utf-8"))
    assert "score" not in document
    assert str(kit) not in document["error"]["message"]
    return document, result.stderr


def test_a_broken_problem_is_a_fault_of_the_kit(grade, make_kit, valid_score):
    """File, key and cure, exit code 3, and a document with an error instead of a score."""
    kit = make_kit(toml=TOML.replace("entry =", "entrypoint ="))
    document, told = fault(grade, valid_score, kit)
    assert document["error"]["message"] == (
        "problems/double/problem.toml: unknown key 'entrypoint' (did you mean 'entry'?)"
    )
    assert document["error"]["message"] in told
    assert grade("--kit", kit, "list").returncode == 3


def test_a_check_that_crashes_is_a_fault_of_the_kit(grade, make_kit, valid_score):
    """The name of the check is told, and nobody gets a zero."""
    kit = make_kit(checks=CHECKS.replace("== exactly(4)", "== exactly(4 / 0)"))
    document, told = fault(grade, valid_score, kit)
    assert document["error"]["check"] == "test_two"
    assert "test_two" in told


def test_checks_that_do_not_add_up_are_a_fault_of_the_kit(grade, make_kit, valid_score):
    """What the check files give must be what the problem promises."""
    kit = make_kit(toml=TOML.replace("torch = { public = 3", "torch = { public = 4"))
    document, _ = fault(grade, valid_score, kit)
    assert "points.torch.public says 4" in document["error"]["message"]


def test_a_check_with_a_false_expectation_names_itself(grade, make_kit, valid_score):
    """The reference is tried first: a check that it fails is broken, not the learner."""
    kit = make_kit(checks=CHECKS.replace("exactly(-6)", "exactly(-7)"), solution=RIGHT)
    document, told = fault(grade, valid_score, kit)
    assert document["error"]["check"] == "test_negative"
    assert "fails the check test_negative" in told


def test_a_crash_of_the_grader_is_told_on_the_error_stream_only(grade, make_kit, valid_score):
    """An exception nobody foresaw is exit code 3; its traceback is not in the document."""
    kit = make_kit()
    broken = grade.folder / "site"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import grader.submission_file as f\n"
        "def read(path): raise ZeroDivisionError('of the test')\n"
        "f.read = read\n",
        encoding="utf-8",
    )
    write(grade, "double.py", RIGHT)
    result = grade(
        *("--kit", kit, "run", "double.py", "--json", "score.json"),
        PYTHONPATH=os.pathsep.join([str(broken), str(ROOT)]),
    )
    assert (result.returncode, result.stdout) == (3, "")
    assert "the grader itself crashed, this is no score" in result.stderr
    assert "ZeroDivisionError: of the test" in result.stderr
    document = valid_score((grade.folder / "score.json").read_text(encoding="utf-8"))
    assert document["error"]["message"] == (
        "the grader itself crashed (ZeroDivisionError); see its own messages"
    )


def test_the_json_of_a_fault_goes_to_the_output_if_asked(grade, make_kit, valid_score):
    """A program that reads the output learns of a fault as it learns of a score."""
    write(grade, "double.py", RIGHT)
    result = grade("--kit", make_kit(toml="format = 2"), "run", "double.py", "--json", "-")
    assert result.returncode == 3
    assert valid_score(result.stdout)["error"]["check"] is None


# --- ends that are not planned --------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [1.5, 5])
def test_an_interrupt_leaves_no_score_and_no_process(grade, make_kit, seconds):
    """Ctrl-C, while PyTorch loads or during a call: 130, no file, nothing left running."""
    write(grade, "double.py", "import time\ndef double(x):\n    time.sleep(60)\n")
    kit = make_kit(
        toml=TOML.replace("call = 2", "call = 60").replace("submission = 10", "submission = 60")
    )
    process = subprocess.Popen(
        grade.argv("--kit", kit, "run", "double.py", "--json", "score.json"),
        cwd=grade.folder,
        env=grade.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # Where the tests run in the background of a shell, interrupts are ignored: undo that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"")
    assert b"interrupted" in err
    assert b"Traceback" not in err
    assert [path.name for path in grade.folder.iterdir() if "score" in path.name] == []
    time.sleep(1)  # what was killed may take a moment to be gone
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_reader_that_goes_away_is_no_crash(grade):
    """`grade show verify | head -1` ends quietly."""
    process = subprocess.Popen(
        grade.argv("show", "verify"),
        cwd=grade.folder,
        env=grade.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(timeout=20) == 141


def test_an_output_that_cannot_show_a_letter_is_no_crash(grade, make_kit):
    """An older terminal gets another sign for what it cannot show."""
    kit = make_kit(statement="# Double\n\n$V \\ge 1$ of them\n")
    result = grade("--kit", kit, "show", "double", PYTHONUTF8="0", PYTHONIOENCODING="latin-1")
    assert (result.returncode, result.stdout) == (0, "# Double\n\nV ? 1 of them\n")


LIGHT = "torch numpy pytest rich jsonschema importlib.metadata".split()


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["show", "verify"], ["start", "verify"], ["hint", "verify"], ["run", "--help"]],
)
def test_the_light_commands_import_nothing_heavy(grade, arguments):
    """They answer at once because they import little: no torch, numpy, pytest or rich."""
    result = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-m", "grader", *arguments],
        cwd=grade.folder,
        env=grade.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )
    imported = {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}
    assert result.returncode == 0
    assert "grader.kit" in imported or "--help" in arguments
    assert imported & {*LIGHT} == set()
