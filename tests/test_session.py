"""A grading from end to end: faults of a kit are never a score, and odd answers never a fault."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import kit, problem, session, submission_file
from grader.faults import KitFault
from grader.workers import Launcher, launcher
from tests import kits

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module", name="started")
def _started() -> Iterator[Launcher]:
    made = launcher("auto")
    yield made
    made.close()


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The proofs of references are kept in a folder of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(name="right")
def _right(tmp_path: Path) -> Path:
    file = tmp_path / "answer.py"
    file.write_text(kits.RIGHT, encoding="utf-8")
    return file


# ---- faults of the kit

HEAD = "import pytest\nfrom grader.expect import exactly\nfrom grader.submission import Case\n\n"
ONE = '@pytest.mark.points(7, group="values")\n'
DOC = '    """Two follows one."""\n'
BODY = "    assert submission(1) == exactly(2)\n"
CHECK = f"{ONE}def test_one(submission):\n{DOC}{BODY}"


@pytest.mark.parametrize(
    ("checks", "check", "told"),
    [
        pytest.param(
            f"{HEAD}{ONE}def test_one(submission):\n{DOC}    {{}}['key']\n",
            "test_one",
            "KeyError: 'key'",
            id="crash",
        ),
        pytest.param(
            f"{HEAD}{ONE}def test_one(submission):\n{DOC}    submission(1)[0]\n",
            "test_one",
            "TypeError: 'int' object is not subscriptable",
            id="indexes an answer before it is compared",
        ),
        pytest.param(
            f"{HEAD}{ONE}def test_one(nothing_like_it):\n{DOC}    pass\n",
            "test_one",
            "nothing_like_it",
            id="fixture that is not there",
        ),
        pytest.param(
            f"{HEAD}@pytest.fixture\ndef one():\n    yield 1\n    {{}}['key']\n\n"
            f"{ONE}def test_one(submission, one):\n{DOC}{BODY}",
            "test_one",
            "KeyError: 'key'",
            id="crash after the check",
        ),
        pytest.param(
            f"{HEAD}{ONE}def test_one(submission):\n{DOC}    submission.check([])\n",
            "test_one",
            "a check without a single case",
            id="no cases",
        ),
        pytest.param(
            f"{HEAD}{ONE}def test_one(reference):\n{DOC}    reference(1)\n",
            "test_one",
            "a check asks for the reference, which is not here",
            id="reference that is not there",
        ),
        pytest.param(
            f"{HEAD}{ONE}def test_one(draws):\n{DOC}    draws('coins', 1)\n",
            "test_one",
            "draws.py: a check asks for it; write it",
            id="draws that are not there",
        ),
        pytest.param(
            f"{HEAD}{CHECK}\n\n{CHECK}",
            "test_one",
            "test_one is defined 2 times; Python keeps the last",
            id="two of one name",
        ),
        pytest.param(
            f"{HEAD}def test_one(submission):\n{DOC}{BODY}",
            "test_one",
            "test_one must have one @pytest.mark.points(n, group=…)",
            id="no points",
        ),
        pytest.param(
            f"{HEAD}{ONE}{ONE}def test_one(submission):\n{DOC}{BODY}",
            "test_one",
            "test_one must have one @pytest.mark.points(n, group=…)",
            id="points twice",
        ),
        pytest.param(
            f'{HEAD}@pytest.mark.points(3.5, group="values")\n'
            f"def test_one(submission):\n{DOC}{BODY}",
            "test_one",
            "test_one: points(n, group=…) takes a positive int and a group",
            id="half points",
        ),
        pytest.param(
            f"{HEAD}@pytest.mark.points(7)\ndef test_one(submission):\n{DOC}{BODY}",
            "test_one",
            "test_one: points(n, group=…) takes a positive int and a group",
            id="no group",
        ),
        pytest.param(
            f"{HEAD}{ONE}def test_one(submission):\n{BODY}",
            "test_one",
            "test_one needs a docstring: the sentence a learner reads",
            id="no docstring",
        ),
        pytest.param(
            f"{HEAD}@pytest.mark.xfail\n{CHECK}",
            "test_one",
            "test_one: xfail says nothing about a submission; remove it",
            id="xfail",
        ),
        pytest.param(
            f"{HEAD}{CHECK}\ndel test_one\n",
            "test_one",
            "test_one is declared but did not run",
            id="check that vanished",
        ),
        pytest.param(
            f"{HEAD}{CHECK}\n{CHECK.replace('_one', '_two')}\ndel test_two\n",
            "test_two",
            "test_two is declared but did not run",
            id="one of two that vanished",
        ),
        pytest.param(
            f"{HEAD}{CHECK}\ntest_two = test_one\n",
            "test_two",
            "test_two ran but is not declared",
            id="check under two names",
        ),
        pytest.param(
            f"{HEAD}if True:\n{textwrap.indent(CHECK, '    ')}",
            "test_one",
            "test_one ran but is not declared",
            id="check inside a block",
        ),
        pytest.param(
            f"{HEAD}class TestIt:\n{textwrap.indent(CHECK.replace('(sub', '(self, sub'), '    ')}",
            "test_one",
            "test_one ran but is not declared",
            id="check inside a class",
        ),
        pytest.param(
            f"{HEAD}{CHECK.replace('7', '8')}",
            None,
            "points.torch.public says 7, but the checks add up to 8; correct one of them",
            id="points that do not add up",
        ),
        pytest.param(
            f"{HEAD}def test_one(submission:\n",
            None,
            "checks.py: cannot be read as Python: '(' was never closed",
            id="syntax error",
        ),
        pytest.param(
            f"{HEAD}import nowhere.to_be_found\n{CHECK}",
            None,
            "checks.py: cannot be imported: ModuleNotFoundError: No module named 'nowhere'",
            id="import error",
        ),
        pytest.param(
            f"{HEAD}from problems.nowhere.cases import them\n{CHECK}",
            None,
            "No module named 'problems.nowhere'",
            id="cases that are not there",
        ),
        pytest.param(
            f"{HEAD}raise SystemExit(0)\n{CHECK}",
            None,
            "pytest broke: SystemExit(0)",
            id="exit while collecting",
        ),
        pytest.param(
            f"{HEAD}{ONE}def test_one(submission):\n{DOC}    raise SystemExit(0)\n",
            "test_one",
            "SystemExit",
            id="exit in a check",
        ),
        pytest.param(
            f"{HEAD}{ONE}def test_one(submission):\n{DOC}    pytest.exit('enough')\n",
            None,
            "the checks could not be run",
            id="end of the run in a check",
        ),
    ],
)
def test_a_check_file_that_is_wrong_is_a_fault_of_the_kit(
    started, tmp_path, right, checks, check, told
):
    """A mistake in a check file stops the grading, with the file, the check and the reason."""
    tiny = kits.write_kit(tmp_path / "kit", checks=checks)

    with pytest.raises(KitFault) as caught:
        tiny.grade(right, started)

    assert told in str(caught.value)
    assert tiny.slug in str(caught.value)
    assert caught.value.check == check


def test_a_check_that_skips_itself_is_not_run_and_earns_nothing(started, tmp_path, right):
    """A skipped check is `not_run` with its reason; it is never passed."""
    skips = f"{HEAD}{ONE}def test_one(submission):\n{DOC}    pytest.skip('not on a Monday')\n"
    report = kits.write_kit(tmp_path / "kit", checks=skips).grade(right, started)

    [check] = report.checks
    assert (check.outcome, check.message, check.earned) == ("not_run", "not on a Monday", 0)
    assert (report.score, report.passed, report.verdict) == (0, False, "incorrect")


def test_a_plain_assertion_costs_points(started, tmp_path, right):
    """A check may compare what is no expectation; the assertion is then the message."""
    plain = f"{HEAD}{ONE}def test_one(submission):\n{DOC}    assert submission(1) == 3\n"
    report = kits.write_kit(tmp_path / "kit", checks=plain).grade(right, started)

    [check] = report.checks
    assert (check.outcome, check.earned) == ("failed", 0)
    assert str(check.message).startswith("2 == 3")


# ---- the reference

HIDDEN_TOML = kits.TOML.replace("hidden = 0", "hidden = 3")


def test_the_reference_is_proved_once(started, tmp_path, right, monkeypatch):
    """A reference passes every check before anybody is graded, and then not again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tiny = kits.write_kit(
        tmp_path / "kit", toml=HIDDEN_TOML, hidden=kits.HIDDEN, solution=kits.RIGHT
    )

    report = tiny.grade(right, started)
    proofs = list((tmp_path / "cache").rglob("*"))
    times = {path: path.stat().st_mtime_ns for path in proofs}
    tiny.grade(right, started)

    assert (report.score, report.max_score) == (10, 10)
    assert [check.hidden for check in report.checks] == [False, False, False, True]
    assert len([path for path in proofs if path.is_file()]) == 1
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*")} == times


def test_an_expectation_made_false_stops_the_grading_and_names_the_check(started, tmp_path, right):
    """Where a check contradicts the reference nobody is given a score, and the check is named."""
    wrong = kits.CHECKS.replace("exactly(14)", "exactly(15)")
    tiny = kits.write_kit(
        tmp_path / "kit", checks=wrong, toml=HIDDEN_TOML, hidden=kits.HIDDEN, solution=kits.RIGHT
    )

    with pytest.raises(KitFault) as caught:
        tiny.grade(right, started)

    assert caught.value.check == "test_thirteen"
    assert str(caught.value) == (
        f"the reference solutions/{tiny.slug}/solution.py fails the check test_thirteen, "
        "so nothing can be graded:   number = 13\nanswer: expected 15, got 14"
    )


@pytest.mark.parametrize(
    ("solution", "told"),
    [
        ("def plus_one(number) return 2\n", "does not load: line 1: expected ':'"),
        ("def plus_one(number):\n    return 1 / 0\n", "ZeroDivisionError: division by zero"),
        ("import os\nos._exit(0)\n", "does not load: ended the process during loading"),
    ],
)
def test_a_broken_reference_is_a_fault_of_the_kit(started, tmp_path, right, solution, told):
    """A reference that does not load, or raises, is told as such and gives nobody a zero."""
    tiny = kits.write_kit(tmp_path / "kit", toml=HIDDEN_TOML, hidden=kits.HIDDEN, solution=solution)

    with pytest.raises(KitFault, match=told):
        tiny.grade(right, started)


def test_hidden_checks_without_a_reference_to_ask_are_a_fault(started, tmp_path, right):
    """A kit whose hidden checks ask for a reference that is not there says so."""
    tiny = kits.write_kit(tmp_path / "kit", toml=HIDDEN_TOML, hidden=kits.HIDDEN)

    with pytest.raises(KitFault, match="a check asks for the reference, which is not here"):
        tiny.grade(right, started)


def test_hidden_checks_can_be_left_out(started, tmp_path, right):
    """Without hidden checks the score is out of the public points and there is no seed."""
    tiny = kits.write_kit(
        tmp_path / "kit", toml=HIDDEN_TOML, hidden=kits.HIDDEN, solution=kits.RIGHT
    )

    report = tiny.grade(right, started, hidden=False)

    assert (report.score, report.max_score, report.seed) == (7, 7, None)
    assert not any(check.hidden for check in report.checks)


def test_hidden_inputs_come_from_the_seed_and_are_not_told(started, tmp_path):
    """One seed gives one set of hidden inputs; the report tells the kind of fault, no input.

    What is printed during a hidden check is not told either.
    """
    asked = tmp_path / "answer.py"
    asked.write_text(
        "def plus_one(number):\n    print(number)\n"
        "    return number + 1 + (number > 13 and number % 2)\n",
        encoding="utf-8",
    )
    tiny = kits.write_kit(
        tmp_path / "kit", toml=HIDDEN_TOML, hidden=kits.HIDDEN, solution=kits.RIGHT
    )

    first, again = ([tiny.grade(asked, started, seed=seed) for seed in range(8)] for _ in "12")

    assert [report.seed for report in first] == [*range(8)]
    assert [r.checks[3].outcome for r in first] == [r.checks[3].outcome for r in again]
    assert {report.checks[3].outcome for report in first} == {"passed", "failed"}
    for report in first:
        check = report.checks[3]
        wrong = "answer: wrong value" if check.outcome == "failed" else None
        assert (check.message, check.hint, check.cases.first_failure) == (wrong, None, None)
        assert report.output.text == "1\n13\n2\n"


def test_public_inputs_are_the_same_in_every_run(started, tmp_path):
    """`rng` gives a public check inputs that no seed changes, and each check its own."""
    drawn = "    assert submission(rng.randrange(10**6)) == exactly(None)\n"
    checks = HEAD + "".join(
        f'@pytest.mark.points({n}, group="values")\ndef test_{n}(submission, rng):\n{DOC}{drawn}\n'
        for n in (3, 4)
    )
    tiny = kits.write_kit(tmp_path / "kit", checks=checks)
    prints = tmp_path / "answer.py"
    prints.write_text("def plus_one(number):\n    print(number)\n", encoding="utf-8")

    reports = [tiny.grade(prints, started, seed=seed) for seed in (1, 2)]

    assert reports[0].output == reports[1].output
    assert reports[0].score == 7
    assert len(set(reports[0].output.text.split())) == 2


# ---- what surrounds a submission


def test_pytest_settings_of_the_caller_have_no_effect(started, tmp_path, right, monkeypatch):
    """PYTEST_ADDOPTS and PYTEST_PLUGINS do not reach a grading, and are there again afterwards."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only -k nothing_at_all")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin_anywhere")
    tiny = kits.write_kit(tmp_path / "kit")

    report = tiny.grade(right, started)

    assert (report.score, report.verdict) == (7, "correct")
    assert os.environ["PYTEST_ADDOPTS"] == "--collect-only -k nothing_at_all"
    assert os.environ["PYTEST_PLUGINS"] == "no_such_plugin_anywhere"


POISON = "raise RuntimeError('this file must never run')\n"
INI = "[pytest]\naddopts = --collect-only\npython_functions = nothing_*\n"


def test_files_beside_a_submission_or_a_check_have_no_effect(started, tmp_path, right, monkeypatch):
    """conftest.py, pytest.ini and modules named like libraries are read by nobody."""
    tiny = kits.write_kit(tmp_path / "kit")
    for folder in (right.parent, tiny.checks.parent, tiny.root):
        for name in ("conftest.py", "numpy.py", "torch.py", "json.py", "sitecustomize.py"):
            (folder / name).write_text(POISON, encoding="utf-8")
        (folder / "pytest.ini").write_text(INI, encoding="utf-8")
        (folder / "tox.ini").write_text(INI, encoding="utf-8")
    monkeypatch.chdir(right.parent)

    report = tiny.grade(right, started)

    assert (report.score, report.verdict) == (7, "correct")


# ---- answers of every odd kind, through the checks of both problems

PRELUDE = """\
import collections, decimal, fractions, types
import numpy as np
import torch

class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __float__(self): return 0.5
    def __int__(self): return 0
    def __getitem__(self, key): return self
    def __iter__(self): return iter([self, self])
    def __len__(self): return 2

class EqualFloat(float):
    __eq__ = Equal.__eq__
    __hash__ = float.__hash__

class EqualTensor(torch.Tensor):
    __eq__ = Equal.__eq__
    __hash__ = torch.Tensor.__hash__

class Liar:
    __class__ = property(lambda self: dict)
    def __repr__(self): raise SystemExit(0)

class EqualDict(dict):
    __eq__ = Equal.__eq__

class EqualTuple(tuple):
    __eq__ = Equal.__eq__
    __hash__ = tuple.__hash__

class Broken:
    def __getattribute__(self, name): raise RuntimeError(name)
"""

ANYWHERE = (
    "None", "()", "{}", "[]", "0", "0.5", "1.0", "True", "''", "'answer'", "b'bytes'", "set()",
    "frozenset({1})", "Equal()", "EqualFloat(0.5)", "EqualTensor()", "EqualDict()", "EqualTuple()",
    "Liar()", "Broken()", "Equal", "len", "lambda: None", "...", "NotImplemented", "1j", "10**5000",
    "-10**30", "float('nan')", "float('inf')", "'\\ud800'", "'x' * 10_000", "range(3)",
    "(n for n in range(3))", "iter(())", "decimal.Decimal('0.5')", "fractions.Fraction(1, 2)",
    "types.SimpleNamespace()", "collections.OrderedDict()", "np.float64(0.5)", "np.float16('nan')",
    "np.int64(3)", "np.bool_(True)", "np.str_('a')", "np.datetime64(0, 's')", "np.array(0.5)",
    "np.array([])", "np.array([None])", "np.array(['a'])", "np.array([1j])", "np.zeros((0, 3))",
    "np.zeros(2, '>f8')", "np.ma.zeros(2)", "np.zeros(2, [('a', 'f4')])", "np.zeros((2,) * 12)",
    "torch.tensor(0.5)", "torch.tensor([])", "torch.zeros(2, 0, 3)", "torch.full((5,), torch.nan)",
    "torch.zeros(0, 2**40, 2**20)", "torch.zeros(1).expand(2**20)", "torch.zeros(3, device='meta')",
    "torch.zeros(2).to_sparse()", "torch.zeros(2, dtype=torch.complex64)", "torch.zeros((1,) * 20)",
    "torch.zeros(3, requires_grad=True)", "torch.nn.Parameter(torch.zeros(2))", "torch.float32",
    "torch.zeros(2, dtype=torch.bool)", "torch.Generator()", "torch.nn.Linear(1, 1)", "torch",
    "torch.quantize_per_tensor(torch.zeros(2), 1.0, 0, torch.qint8)", "{1: 2, (3,): [4]}",
    "torch.zeros(2, dtype=torch.float8_e5m2)", "torch.zeros(5_000_000)", "[[[[[[[[]]]]]]]]",
    "{Equal(): 1}", "{None: None, True: 1, 0.0: 2}", "[None] * 2000", "(torch.zeros(1),) * 3",
)  # fmt: skip

IN_VERIFY = (
    "{'accept_prob': None, 'residual': None}",
    "{'accept_prob': 1.0, 'residual': None}",
    "{'accept_prob': 1.0, 'residual': target_probs}",
    "{'accept_prob': 0.0, 'residual': draft_probs - draft_probs}",
    "{'accept_prob': 0.5, 'residual': draft_probs - draft_probs}",
    "{'accept_prob': Equal(), 'residual': Equal()}",
    "{'accept_prob': EqualFloat(1.0), 'residual': EqualTensor(draft_probs)}",
    "{'accept_prob': torch.tensor(1.0), 'residual': draft_probs * torch.nan}",
    "{'accept_prob': float('nan'), 'residual': target_probs.reshape(1, -1)}",
    "{'accept_prob': '1.0', 'residual': [0.0] * len(draft_probs)}",
    "{'accept_prob': 1.0, 'residual': target_probs[:0]}",
    "{'accept_prob': 1.0}",
    "{'accept_prob': 1.0, 'residual': target_probs, 'note': 'more'}",
    "EqualDict(accept_prob=1.0, residual=target_probs)",
    "(1.0, target_probs)",
)
CONSTANT_IN_VERIFY = tuple(
    f"{{'accept_prob': {number}, 'residual': {rows}}}"
    for number in ("0.0", "1.0")
    for rows in ("draft_probs - draft_probs", "target_probs", "target_probs / target_probs")
)

IN_STEP = (
    "(None, None)",
    "(draft_tokens, 0)",
    "(draft_tokens[:0], 0)",
    "(torch.zeros(1, dtype=torch.int64), 0)",
    "(torch.zeros(len(draft_tokens) + 1, dtype=torch.int64), len(draft_tokens))",
    "(torch.full((1,), -1), 0)",
    "(torch.full((1,), 2**62), 0)",
    "(torch.full((1,), torch.nan), 0)",
    "(torch.zeros(1, 1, dtype=torch.int64), 0)",
    "(torch.zeros(1, dtype=torch.int64), torch.tensor(0))",
    "(torch.zeros(1, dtype=torch.int64), None)",
    "(torch.zeros(1, dtype=torch.int64), 10**30)",
    "(torch.zeros(1, dtype=torch.bool), False)",
    "(Equal(), Equal())",
    "(EqualTensor([0]), 0)",
    "EqualTuple((torch.zeros(1, dtype=torch.int64), 0))",
    "[torch.zeros(1, dtype=torch.int64), 0]",
    "(torch.zeros(1, dtype=torch.int64), 0, None)",
    "([0], 0)",
    "{'tokens': draft_tokens, 'n': 0}",
)

CONSTANT_IN_STEP = (
    "(torch.zeros(1, dtype=torch.int64), 0)",
    "(torch.ones(1, dtype=torch.int64), 0)",
    "(torch.zeros(len(draft_tokens) + 1, dtype=torch.int64), len(draft_tokens))",
    "(torch.cat([draft_tokens, draft_tokens[:1]]).long(), len(draft_tokens))",
)

# Known to be wrong in every check, whatever it asks for.
ALWAYS = ("None", "()", "{}", "0", "0.0", "Equal()", "EqualTensor()", "torch.zeros(3)")


@pytest.fixture(scope="module", name="real")
def _real() -> kit.Kit:
    return kit.find(ROOT)


@pytest.mark.parametrize(
    ("slug", "answer"),
    [("verify", answer) for answer in (*ALWAYS, *CONSTANT_IN_VERIFY)]
    + [("step", answer) for answer in (*ALWAYS, *CONSTANT_IN_STEP)],
)
def test_one_answer_for_every_question_earns_nothing(started, real, tmp_path, slug, answer):
    """Nothing, zeros, constants and objects that equal everything earn 0 points."""
    report = graded(real, slug, tmp_path, started, [answer])

    assert [check.id for check in report.checks if check.earned] == []
    assert (report.score, report.extra.earned, report.passed) == (0, 0, False)
    assert report.load_error is None


@pytest.mark.parametrize("stride", [1, 2, 7])
@pytest.mark.parametrize("slug", ["verify", "step"])
def test_odd_answers_of_every_kind_are_wrong_and_no_fault(started, real, tmp_path, slug, stride):
    """Whatever a submission returns is judged: no check crashes on it, and none is passed."""
    answers = [*ANYWHERE, *(IN_VERIFY if slug == "verify" else IN_STEP)]

    report = graded(real, slug, tmp_path, started, answers, stride)

    assert [check.id for check in report.checks if check.earned] == []
    assert {check.outcome for check in report.checks} <= {"failed", "error"}


def graded(real, slug, folder, started, answers, stride=1):
    """The report on a submission that gives these answers in turn, one a call."""
    exercise = problem.load(real, slug)
    turns = "".join(f"    lambda {', '.join(exercise.parameters)}: {a},\n" for a in answers)
    parameters = [*exercise.parameters[:3], *(f"{name}=None" for name in exercise.parameters[3:])]
    file = folder / f"{slug}.py"
    file.write_text(
        f"{PRELUDE}\nANSWERS = [\n{turns}]\ncalls = 0\n\n"
        f"def {exercise.entry}({', '.join(parameters)}):\n"
        "    global calls\n"
        f"    calls += {stride}\n"
        "    answer = ANSWERS[calls % len(ANSWERS)]\n"
        f"    return answer({', '.join(exercise.parameters)})\n",
        encoding="utf-8",
    )
    report = session.grade(
        real, exercise, submission_file.read(file), library="torch", started=started, seed=stride
    )
    kits.validate(report)
    return report


# ---- side effects told apart

ROWS = '''\
import pytest

from grader.expect import exactly
from grader.submission import Case
from grader.values import array


@pytest.mark.points(4, group="side effects")
def test_private(submission):
    """The answer has memory of its own."""
    submission.check([Case((array([1.0]),), exactly(array([2.0])))], private=True)


@pytest.mark.points(3, group="side effects")
def test_unchanged(submission):
    """The argument stays as it is."""
    submission.check([Case((array([1.0]),), exactly(array([2.0])))], unchanged=True)
'''


@pytest.mark.parametrize(
    ("body", "failed"),
    [
        ("answer = number + 1; number.mul_(0.5); return answer", {"test_unchanged"}),
        ("number += 1; return number.clone()", {"test_unchanged"}),
        ("number += 1; return number", {"test_private", "test_unchanged"}),
        ("return number + 1", set()),
    ],
)
def test_a_changed_argument_is_not_shared_memory(started, tmp_path, body, failed):
    """Writing into an argument and handing it back are two mistakes, each charged by itself."""
    kit = kits.write_kit(tmp_path / "kit", checks=ROWS)
    file = tmp_path / "file.py"
    file.write_text(f"def plus_one(number):\n    {body}\n", encoding="utf-8")
    report = kit.grade(file, started)
    assert {check.id for check in report.checks if not check.earned} == failed


def test_a_call_made_by_hand_is_told_with_its_inputs(started, tmp_path):
    """A check that compares by hand tells the inputs of its call, like one with cases."""
    file = tmp_path / "file.py"
    file.write_text("def plus_one(number):\n    return number\n", encoding="utf-8")
    report = kits.write_kit(tmp_path / "kit").grade(file, started)
    first = report.checks[0].message
    assert first.splitlines()[0].split() == ["number", "=", "1"]
    assert "expected 2, got 1" in first
