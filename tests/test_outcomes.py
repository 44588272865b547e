"""How a submission can end, with real processes: what is told, what is earned, what is left.

Every file in `outcomes/` adds one to a number, and does what its first line says when that number
is 13, or when it is loaded. The tiny kit of `kits.py` asks for 1 (4 points), 13 (2) and 2 (1).
Everything holds at the best level of isolation and at the lowest; what needs threads or processes
to happen at all is tried at the lowest alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.report import Failure, Report
from grader.workers import Launcher, launcher
from tests import kits

FOLDER = Path(__file__).parent / "outcomes"
RIGHT = FOLDER / "right.py"

# What stands in place of the module: the message, and the lines of the learner's own code.
AT_LOAD = {
    "syntax error": (
        "import math\n\ndef plus_one(number):\n    return number +\n",
        Failure(
            "syntax_error", "line 4: invalid syntax", "    return number +\n                   ^"
        ),
    ),
    "indentation": (
        "def plus_one(number):\nreturn number + 1\n",
        Failure(
            "syntax_error",
            "line 2: expected an indented block after function definition on line 1",
            "    return number + 1\n    ^",
        ),
    ),
    "return at the top": (
        "return 1\n",
        Failure("syntax_error", "line 1: 'return' outside function", "    return 1\n    ^"),
    ),
    "module that is not there": (
        "import nowhere.to_be_found\n",
        Failure(
            "import_error",
            "ModuleNotFoundError: No module named 'nowhere'",
            "  line 1, in <module>\n    import nowhere.to_be_found",
        ),
    ),
    "name that is not there": (
        "from torch import no_such_thing\n",
        Failure(
            "import_error",
            "ImportError: cannot import name 'no_such_thing' from 'torch' "
            "(site-packages/torch/__init__.py)",
            "  line 1, in <module>\n    from torch import no_such_thing",
        ),
    ),
    "module of the worker": (
        "import wire\n",
        Failure(
            "import_error",
            "ModuleNotFoundError: No module named 'wire'",
            "  line 1, in <module>\n    import wire",
        ),
    ),
    "no entry": (
        "def plus_two(number):\n    return number + 2\n",
        Failure(
            "missing_entry",
            "the file does not define plus_one; define `def plus_one(number)` at the top level",
        ),
    ),
    "nothing at all": (
        "",
        Failure(
            "missing_entry",
            "the file does not define plus_one; define `def plus_one(number)` at the top level",
        ),
    ),
    "not callable": (
        "plus_one = 14\n",
        Failure("not_callable", "plus_one is int, not a function"),
    ),
    "too few parameters": (
        "def plus_one():\n    return 2\n",
        Failure(
            "wrong_arity",
            "plus_one() does not take the arguments (number): "
            "too many positional arguments",
        ),
    ),
    "too many parameters": (
        "def plus_one(number, step):\n    return number + step\n",
        Failure(
            "wrong_arity",
            "plus_one(number, step) does not take the arguments (number): "
            "missing a required argument: 'step'",
        ),
    ),
    "exception": (
        "def prepare():\n    return {}['key']\n\nprepare()\n",
        Failure(
            "exception",
            "KeyError: 'key'",
            "  line 4, in <module>\n    prepare()\n  line 2, in prepare\n    return {}['key']",
        ),
    ),
    "exception class of its own": (
        "class Mine(Exception):\n    pass\n\nraise Mine\n",
        Failure("exception", "Mine", "  line 4, in <module>\n    raise Mine"),
    ),
    "sys.exit": (
        "import sys\nsys.exit(0)\n",
        Failure(
            "exit",
            "ended the program itself (SystemExit: 0)",
            "  line 2, in <module>\n    sys.exit(0)",
        ),
    ),
    "raise KeyboardInterrupt": (
        "raise KeyboardInterrupt\n",
        Failure(
            "exception", "KeyboardInterrupt", "  line 1, in <module>\n    raise KeyboardInterrupt"
        ),
    ),
    "8 GiB": (
        "kept = bytearray(8 << 30)\n",
        Failure(
            "memory",
            "used more than 512 MiB of memory",
            "  line 1, in <module>\n    kept = bytearray(8 << 30)",
        ),
    ),
    "1 GiB of output": (
        "for _ in range(1 << 14):\n    print('x' * (1 << 16))\n",
        Failure(
            "flood",
            "printed more than 8 MiB",
            "  line 2, in <module>\n    print('x' * (1 << 16))",
        ),
    ),
    "segfault": (
        "import ctypes\nctypes.string_at(0)\n",
        Failure("crash", "crashed (signal 11, SIGSEGV) during loading"),
    ),
    "exit_at_load": (None, Failure("exit", "ended the process during loading (exit code 0)")),
    "loop_at_load": (None, Failure("timeout", "took longer than 3 s to load and was stopped")),
    "forges_at_load": (
        None,
        Failure(
            "malformed",
            "answered with something that is not a value (a reply to something that was not asked)",
        ),
    ),
}  # fmt: skip

LATE = "your code took longer than 1 s for one call and was stopped"
MEMORY = "your code used more than 512 MiB of memory"
CHANGED = "your code changed something in Python that the grader needs to answer"
NO_VALUE = "your code answered with something that is not a value"
OVERSIZED = f"{NO_VALUE} (frame of 4294967295 + 4294967295 bytes is over the limit)"

# After "number = 13": the outcome of that check and the whole message.
IN_CALL = {
    "exception": (
        "error",
        "your code raised ValueError: math domain error\n"
        "  line 11, in plus_one\n    return half(number) if number == 13 else number + 1\n"
        "  line 7, in half\n    return math.sqrt(number - 14)",
    ),
    "exception_from_torch": (
        "error",
        "your code raised RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n"
        "  line 8, in plus_one\n    torch.ones(2, 3) @ torch.ones(2, 3)",
    ),
    "exception_without_words": (
        "error",
        "your code raised Silent: (its message cannot be read)\n"
        "  line 11, in plus_one\n    raise Silent",
    ),
    "exception_of_a_number": (
        "error",
        "your code raised Odd: (its message cannot be read)\n  line 11, in plus_one\n    raise Odd",
    ),
    "exception_with_escapes": (
        "error",
        "your code raised ValueError: red back\nsecond line\n  line 6, in plus_one\n"
        '    raise ValueError("\\x1b[31mred\\x1b[0m \\u202eback\\x00\\nsecond line")',
    ),
    "exception_of_megabytes": (
        "error",
        f"your code raised ValueError: {'x' * 1986} …\n"
        '  line 6, in plus_one\n    raise ValueError("x" * 16_000_000)',
    ),
    "exception_without_a_class": ("error", CHANGED),
    "recursion_in_c": ("error", "your code crashed (signal 11, SIGSEGV) during a call"),
    "loop": ("error", LATE),
    "loop_that_catches_everything": ("error", LATE),
    "sleep": ("error", LATE),
    "slow_str": ("error", LATE),
    "ignores_signals": ("error", LATE),
    "stops_itself": ("error", LATE),
    "memory_bytes": ("error", f"{MEMORY}\n  line 6, in plus_one\n    bytearray(8 << 30)"),
    "memory_torch": (
        "error",
        f"{MEMORY}\n  line 8, in plus_one\n    torch.zeros(8 << 30, dtype=torch.uint8)",
    ),
    "memory_numpy": (
        "error",
        f"{MEMORY}\n  line 8, in plus_one\n    np.zeros(8 << 30, dtype=np.uint8)",
    ),
    "memory_by_and_by": (
        "error",
        f"{MEMORY}\n  line 8, in plus_one\n    kept.append(bytes(1 << 20))",
    ),
    "memory_of_small_things": (
        "error",
        f"{MEMORY}\n  line 8, in plus_one\n    kept.append(bytes(2000))",
    ),
    "segfault": ("error", "your code crashed (signal 11, SIGSEGV) during a call"),
    "abort": ("error", "your code crashed (signal 6, SIGABRT) during a call"),
    "real_time_signal": ("error", "your code crashed (signal 40) during a call"),
    "exit_in_call": ("error", "your code ended the process during a call (exit code 0)"),
    "exit_later": ("error", "your code ended the process during a call (exit code 0)"),
    "sys_exit": (
        "error",
        "your code ended the program itself (SystemExit: 0)\n"
        "  line 8, in plus_one\n    sys.exit(0)",
    ),
    "keyboard_interrupt": (
        "error",
        "your code raised KeyboardInterrupt\n  line 6, in plus_one\n    raise KeyboardInterrupt",
    ),
    "flood": (
        "error",
        'your code printed more than 8 MiB\n  line 7, in plus_one\n    print("x" * (1 << 16))',
    ),
    "flood_in_one_print": (
        "error",
        'your code printed more than 8 MiB\n  line 6, in plus_one\n    print("x" * 50_000_000)',
    ),
    "long_list": ("failed", "answer: expected int 14, got list of 10000000 items"),
    "endless_generator": ("failed", "answer: expected int 14, got generator"),
    "nested_without_end": ("failed", "answer: expected int 14, got list"),
    "texts_too_long": ("failed", "your code returned more than can be read"),
    "closes_socket": ("error", CHANGED),
    "breaks_replies": ("error", CHANGED),
    "patches_torch": ("error", CHANGED),
    "patches_replies": ("error", f"{NO_VALUE} (illegal value of tag 'int')"),
    "writes_garbage": ("error", OVERSIZED),
    "claims_gigabytes": ("error", OVERSIZED),
    "forges_reply": ("error", f"{NO_VALUE} (a reply to something that was not asked)"),
    "forges_values": ("error", f"{NO_VALUE} (illegal integer)"),
    "forges_arrays": ("error", f"{NO_VALUE} (array with axes that are too long)"),
    "forges_failure": ("error", f"{NO_VALUE} (a failure of an unknown kind)"),
    "forges_text": ("failed", "answer: expected int 14, got int 14 (PASSED)"),
}

HARMLESS = (
    "right",
    "thread_left",
    "process_left",
    "process_left_in_a_session",
    "prints",
    "prepares_output",
    "flood_past_python",
)
NOT_LOCKED = {"exit_later", "thread_left", "process_left", "process_left_in_a_session"}
ALIKE_FRESH = ("memory_torch", "segfault", "exit_at_load")


@pytest.fixture(scope="module", name="kit")
def _kit(tmp_path_factory: pytest.TempPathFactory) -> kits.TinyKit:
    return kits.write_kit(tmp_path_factory.mktemp("outcomes"))


@pytest.fixture(scope="module", name="started", params=["auto", "process"])
def _started(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    made = launcher("auto", level=request.param)
    yield made
    made.close()


@pytest.mark.parametrize("name", AT_LOAD)
def test_a_file_that_does_not_load_is_told_once_and_nothing_runs(kit, started, name, tmp_path):
    """A file that cannot be loaded earns nothing; one message says why, and no check is run."""
    source, failure = AT_LOAD[name]
    file = FOLDER / f"{name}.py"
    if source is not None:
        file = tmp_path / "answer.py"
        file.write_text(source, encoding="utf-8")

    report = kit.grade(file, started)

    assert report.load_error == failure
    assert [check.outcome for check in report.checks] == ["not_run"] * 3
    assert {check.message for check in report.checks} == {"the submission could not be loaded"}
    assert (report.score, report.max_score, report.verdict) == (0, 7, "not_run")
    assert_nothing_is_left(kit, started)


@pytest.mark.parametrize("name", IN_CALL)
def test_a_call_that_fails_costs_its_own_check_alone(kit, started, name):
    """Whatever one call does, its check is lost with the right words and the others are judged."""
    skip_unless_possible(name, started)
    outcome, message = IN_CALL[name]
    began = time.monotonic()

    report = kit.grade(FOLDER / f"{name}.py", started)

    assert time.monotonic() - began < 5
    assert [check.outcome for check in report.checks] == ["passed", outcome, "passed"]
    assert report.checks[1].message == f"  number = 13\n{message}"
    assert (report.score, report.verdict, report.load_error) == (5, "incorrect", None)
    assert_nothing_is_left(kit, started)


def test_endless_recursion_is_an_exception_whose_lines_are_cut(kit, started):
    """A RecursionError is told as such, with the last calls and how many came before them."""
    report = kit.grade(FOLDER / "recursion.py", started)

    lines = str(report.checks[1].message).splitlines()
    assert lines[:2] == [
        "  number = 13",
        "your code raised RecursionError: maximum recursion depth exceeded",
    ]
    assert lines[2].startswith("  … 9")
    assert lines[2].endswith(" calls before these")
    assert (
        lines[3:]
        == [
            "  line 5, in plus_one",
            "    return plus_one(number) if number == 13 else number + 1",
        ]
        * 12
    )
    assert_nothing_is_left(kit, started)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_no_harm_costs_nothing(kit, started, name):
    """A thread or a process left behind ends with the worker, and printing costs no points."""
    skip_unless_possible(name, started)

    report = kit.grade(FOLDER / f"{name}.py", started)

    assert (report.score, report.passed, report.verdict) == (7, True, "correct")
    assert_nothing_is_left(kit, started)


@pytest.mark.parametrize("name", ["flood", "flood_in_one_print", "flood_past_python", "prints"])
def test_output_is_kept_up_to_64_kib_and_the_cut_is_told(kit, started, name):
    """The report has the first 64 KiB of what was printed, and says that it is not all."""
    output = kit.grade(FOLDER / f"{name}.py", started).output

    assert output.truncated
    assert len(output.text) == 64 << 10
    assert output.text.rstrip("x") in ("", "first\n")


def test_little_output_is_kept_whole_and_clean(kit, started, tmp_path):
    """What is printed to either stream is in the report in order, without control characters."""
    file = tmp_path / "answer.py"
    file.write_text(
        "import os, sys\n"
        "print('loading')\n"
        "def plus_one(number):\n"
        "    print(f'\\x1b[1m{number}\\x1b[0m', file=sys.stderr)\n"
        "    os.write(1, b'\\xff raw\\n')\n"
        "    return number + 1\n",
        encoding="utf-8",
    )

    output = kit.grade(file, started).output

    assert output.text == "loading\n1\n\ufffd raw\n13\n\ufffd raw\n2\n\ufffd raw\n"
    assert not output.truncated


@pytest.mark.parametrize("name", ALIKE_FRESH)
def test_fresh_workers_tell_the_same(kit, started, fresh, name):
    """A worker that is a new interpreter gives the same report as one that was forked."""
    file = FOLDER / f"{name}.py"

    assert facts(kit.grade(file, fresh)) == facts(kit.grade(file, started))


def test_time_in_all_is_kept_within_one_message(started, tmp_path):
    """Calls that are each within the limit together may not exceed the time of the submission."""
    limits = kits.TOML.replace("submission = 10", "submission = 1.5")
    kit = kits.write_kit(tmp_path, checks=MANY, toml=limits)
    file = tmp_path / "answer.py"
    file.write_text(
        "import time\n\ndef plus_one(number):\n    time.sleep(0.4)\n    return number + 1\n",
        encoding="utf-8",
    )
    began = time.monotonic()

    report = kit.grade(file, started)

    assert time.monotonic() - began < 4
    assert [check.outcome for check in report.checks] == ["error", "not_run", "not_run"]
    first, second, _ = report.checks
    assert str(first.message).splitlines()[0] == "3 of 40 cases agree; the first that does not:"
    assert str(first.message).endswith("used up the 1.5 s it may take in all and was stopped")
    assert second.message == "the submission used up its 1.5 s before this"
    assert report.score == 0


def test_workers_that_die_again_and_again_are_not_replaced_for_ever(started, tmp_path):
    """After three deaths in one message the rest of it is not called; other checks still run."""
    kit = kits.write_kit(tmp_path, checks=MANY)
    file = tmp_path / "answer.py"
    file.write_text(
        "import os\n\ndef plus_one(number):\n    print(number)\n"
        "    return number + 1 if number < 5 else os._exit(0)\n",
        encoding="utf-8",
    )

    report = kit.grade(file, started)

    assert [check.outcome for check in report.checks] == ["error", "error", "passed"]
    assert report.output.text.split() == ["0", "1", "2", "3", "4", "5", "6", "7", "6"]
    assert report.checks[0].cases.passed == 5
    assert report.checks[0].cases.total == 40


MANY = '''\
import pytest

from grader.expect import exactly
from grader.submission import Case


@pytest.mark.points(4, group="values")
def test_forty(submission):
    """One more follows each of forty numbers."""
    submission.check([Case((n,), exactly(n + 1)) for n in range(40)])


@pytest.mark.points(2, group="values")
def test_alone(submission):
    """Seven follows six."""
    assert submission(6) == exactly(7)


@pytest.mark.points(1, group="values")
@pytest.mark.fresh
def test_anew(submission):
    """Two follows one."""
    assert submission(1) == exactly(2)
'''


@pytest.fixture(scope="module", name="fresh")
def _fresh() -> Iterator[Launcher]:
    made = launcher("fresh")
    yield made
    made.close()


def skip_unless_possible(name: str, started: Launcher) -> None:
    if name in NOT_LOCKED and started.isolation().level != "process":
        pytest.skip("needs threads or processes, which are barred at this level")


def assert_nothing_is_left(kit: kits.TinyKit, started: Launcher) -> None:
    """No process of the grading runs on, and a right submission has full marks right after."""
    assert kits.workers() == []
    assert kit.grade(RIGHT, started).score == 7


def facts(report: Report) -> dict[str, object]:
    """What two gradings of one file must agree on: all but times and the way workers start."""
    document = report.as_dict()
    for name in ("started_at", "seconds", "isolation"):
        del document[name]
    for check in document["checks"]:
        del check["seconds"]
    return document
