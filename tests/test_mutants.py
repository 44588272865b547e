"""Mutants of a reference: which are made, what names them, and what is said of each survivor."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from grader import kit as kits
from grader import problem as problems
from grader.dev import mutants
from grader.dev.mutants import Record, judge, mutants_of
from grader.faults import UsageError
from grader.lanes import Job, grade_all
from grader.report import Cause, FaultReport
from grader.report import Kit as KitName
from tests.kits import TOML, write_kit

KIT = kits.find()
FILE = "solutions/next/solution.py"

# Its loop never ends in two of its mutants, and takes one step for `left -= 2` as well.
REFERENCE = '''\
"""The reference: one step at a time."""


def plus_one(number: int) -> int:
    """The next number, which is 1 more."""
    left = 1
    while left > 0:
        number += 1
        left -= 1
    return number
'''
EQUIVALENT = ("left -= 1", "left -= 2")
SURVIVOR = f"`{EQUIVALENT[0]}` → `{EQUIVALENT[1]}`"


def changes(text):
    return [
        (mutant.line, mutant.before, mutant.after) for mutant in mutants_of(text, FILE, "torch")
    ]


def record(*tables, slug="next"):
    """A record file of these tables: (before, after), or a text as it is."""
    form = (
        '[[equivalent]]\nfile = "solution.py"\nbefore = "{}"\nafter = "{}"\nreason = "It ends."\n'
    )
    texts = [table if isinstance(table, str) else form.format(*table) for table in tables]
    return Record.parse(f"solutions/{slug}/mutants.toml", "# Mutants.\n\n" + "\n".join(texts))


# ---- making them


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return x < 1", ["return x <= 1", "return x < 2"]),
        ("return x - y", ["return x + y"]),
        ("x = f(x)", ["x = None", "x = f(None)"]),
        (
            "return f(x, dtype=d)",
            [f"return f({rest})" for rest in ("None, dtype=d", "x, dtype=None", "dtype=d", "x, ")],
        ),
        ("return len(x)", ["return len(None)"]),
        ("return True", ["return False"]),
    ],
)
def test_a_mutant_has_one_thing_changed(line, expected):
    """Numbers, operators, assigned values and arguments are changed one at a time, line by line."""
    made = changes(f"def f(x):\n    {line}\n")
    assert made == [(2, line, after) for after in expected]


def test_a_mutant_is_the_whole_file():
    """A mutant is what a learner would hand in: the reference with only that line changed."""
    (mutant,) = mutants_of("# One.\ndef f(x):\n    return -x  # two\n", FILE, "numpy")
    assert mutant.text == "# One.\ndef f(x):\n    return +x  # two\n"
    assert (mutant.library, mutant.source().name) == ("numpy", "solution.py")


@pytest.mark.parametrize(
    "text",
    [
        '"""Adds 1 < 2."""\n',
        "'Adds 1.'\n",
        'def f(x: "Literal[1, True]") -> tuple[int, 1]:\n    "Adds 1."\n    return x\n',
        "# 1 < 2\n",
    ],
)
def test_what_does_not_run_is_left_alone(text):
    """Docstrings, annotations and comments have no mutants."""
    assert changes(text) == []


def test_a_function_with_a_decorator_has_mutants():
    """A decorator does not hide what is under it."""
    text = "@torch.no_grad()\ndef f(x):\n    return -x\n"
    assert changes(text) == [(3, "return -x", "return +x")]


def test_a_name_outlives_what_is_edited_around_the_line():
    """Comments, also one behind the line itself, and lines above it are not in a mutant's name."""
    plain = mutants_of("def f(x):\n    return -x\n", FILE, "torch")
    edited = "# New.\n\ndef f(x):  # a\n    # b\n    return -x  # '#'\n"
    assert [m.key for m in mutants_of(edited, FILE, "torch")] == [m.key for m in plain]
    assert plain[0].key == f"{FILE}: return -x → return +x"


def test_lines_that_are_alike_are_counted():
    """The same change on two lines that read alike makes two mutants with two names."""
    first, second = mutants_of("def f(x):\n    y = -x\n    y = -x\n", FILE, "torch")[1::2]
    assert (first.after, first.line) == ("y = +x", 2)
    assert (second.line, second.key) == (3, f"{first.key} (2)")


def test_a_line_that_goes_is_named_by_what_it_was():
    """Where a mutant has a line less than the reference, nothing stands in the place of it."""
    made = changes("def f(x):\n    return g(\n        x,\n        y=2,\n    )\n")
    assert (3, "x,", "None,") in made
    assert (3, "x,", "") in made
    assert record(("x,", "")).complaints == ()


def test_without_mutmut_one_is_told_what_to_install(monkeypatch):
    """Nobody needs mutmut but for mutants, and there its absence is told with the command."""
    monkeypatch.setitem(sys.modules, "mutmut.mutation.mutators", None)
    with pytest.raises(UsageError, match=r'pip install -c constraints\.txt -e "\.\[test\]"'):
        mutants_of("x = 1\n", FILE, "torch")


# ---- judging them


@pytest.fixture(scope="module", name="graded")
def _graded(tmp_path_factory):
    """The mutants of a small problem and their reports, by key."""
    kit = write_kit(
        tmp_path_factory.mktemp("kit"),
        toml=TOML.replace("call = 1\n", "call = 0.3\n"),
        solution=REFERENCE,
    )
    made = mutants.mutants(kit.problem)
    jobs = [Job(kit.slug, mutant.source(), "torch", 1) for mutant in made]
    return kit, made, {made[i].key: report for i, report in grade_all(kits.find(kit.root), jobs, 2)}


@pytest.fixture(name="judged")
def _judged(graded):
    """What is said of these mutants with a given record."""
    kit, made, reports = graded
    return lambda *tables: judge(made, reports, record(*tables, slug=kit.slug))


def test_a_survivor_is_a_complaint(judged):
    """A mutant that every check passes, and no record explains, is a complaint on its line."""
    outcome = judged()
    (complaint,) = outcome.complaints
    assert (complaint.line, complaint.text) == (9, f"no check notices {SURVIVOR}")
    assert complaint.file.endswith("/solution.py")
    assert "mutants.toml" in complaint.cure
    assert len(outcome.killed) == len(outcome.mutants) - 1


def test_a_recorded_survivor_is_explained(judged):
    """A recorded equivalent that survives is no complaint; it is listed with its reason."""
    outcome = judged(EQUIVALENT)
    assert outcome.complaints == ()
    head, *rest = outcome.lines()
    total = len(outcome.mutants)
    assert head.endswith(f"{total}, killed {total - 1}, equivalent 1, unexplained 0")
    assert rest == ["  line 9, equivalent: It ends.", "    - left -= 1", "    + left -= 2"]


def test_a_mutant_that_hangs_is_killed(graded, judged):
    """A mutant whose loop never ends is stopped at the problem's limits, and is killed."""
    kit, made, reports = graded
    first, second = (m.key for m in made if m.after in ("left = 1", "left += 1"))
    assert {first, second} <= judged().killed.keys()
    assert all(reports[key].seconds < kit.problem.limits.submission for key in (first, second))


def test_a_killed_mutant_is_not_equivalent(judged):
    """A record of a mutant that is killed is a complaint on the record, which names the checks."""
    (complaint,) = judged(EQUIVALENT, ("number += 1", "number -= 1")).complaints
    assert (complaint.file.rpartition("/")[2], complaint.line) == ("mutants.toml", 9)
    assert "test_after, test_before, test_thirteen" in complaint.text


def test_a_record_without_its_mutant_is_stale(judged):
    """A record of a mutant that is made no more is a complaint, with the nearest that is."""
    (complaint,) = judged(EQUIVALENT, ("left -= 11", "left -= 2")).complaints
    assert "does not exist" in complaint.text
    assert "left -= 1 → left -= 2" in complaint.cure


@pytest.mark.parametrize(
    ("told", "recorded", "said"),
    [
        ("You take one.", None, "nobody has said that it is true"),
        ("You take two.", "You take one.", "recorded is “You take one.”"),
        (None, "You take one.", "is told no likely cause"),
        ("You take one.", "You take one.", None),
    ],
)
def test_what_a_mutant_is_told_must_be_recorded_as_true(graded, told, recorded, said):
    """A likely cause of a mutant is a complaint unless the record holds the same sentence."""
    kit, made, reports = graded
    before, after = "number += 1", "number -= 1"
    key = next(m.key for m in made if (m.before, m.after) == (before, after))
    reports = reports | {key: replace(reports[key], likely_cause=told and Cause(told))}
    form = '[[told]]\nfile = "solution.py"\nbefore = "{}"\nafter = "{}"\nsentence = "{}"\n'
    known = record(*([form.format(before, after, recorded)] if recorded else []), slug=kit.slug)
    texts = [complaint.text for complaint in judge(made, reports, known).complaints]
    assert [text for text in texts if "told" in text and (said or "") in text] == [
        text for text in texts if SURVIVOR not in text
    ]
    assert len(texts) == (2 if said else 1)


@pytest.mark.parametrize("extra", [True, False])
def test_extra_credit_kills_as_well(graded, extra):
    """A mutant that only loses extra credit is seen, which is all that is asked."""
    kit, made, reports = graded
    lost = altered(made, reports, group="values", outcome="failed", extra=extra)
    outcome = judge(made, lost, record(slug=kit.slug))
    assert outcome.complaints == ()
    assert len(outcome.killed) == len(made)


def test_a_check_that_cannot_run_here_decides_nothing(graded):
    """A survivor of all but the device checks, where these cannot run, is told and no complaint."""
    kit, made, reports = graded
    unsure = altered(made, reports, group="device", outcome="not_run")
    outcome = judge(made, unsure, record(slug=kit.slug))
    assert outcome.complaints == ()
    head, reason = outcome.lines()
    assert head.endswith("unexplained 0, undecided 1")
    assert reason.startswith("  undecided 1: a check on a device")


def altered(made, reports, **how):
    """The reports with the survivor's last check changed."""
    (key,) = (mutant.key for mutant in made if (mutant.before, mutant.after) == EQUIVALENT)
    *checks, last = reports[key].checks
    return reports | {key: replace(reports[key], checks=(*checks, replace(last, **how)))}


def test_a_fault_of_the_kit_is_told_once(graded):
    """A check that cannot judge a mutant is a complaint, made once for all the mutants it met."""
    kit, made, reports = graded
    fault = FaultReport(KitName("kit", "1"), kit.slug, "test_before broke", "test_before", "")
    faulty = reports | {mutant.key: fault for mutant in made[:3]}
    complaints = judge(made, faulty, record(EQUIVALENT, slug=kit.slug)).complaints
    assert [c.text.rpartition(": ")[2] for c in complaints] == ["test_before broke"]
    assert complaints[0].cure.startswith("mend test_before")


# ---- the record


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("[[equivalent]", 1, "is not TOML"),
        ('[[equal]]\nfile = "solution.py"', 1, "'equal'"),
        ("[equivalent]\nnth = 1", 1, "one [equivalent]"),
        ('[[equivalent]]\nfile = "solution.py"\nbefore = "a"\nafter = "b"', 3, "no complete"),
        ('[[equivalent]]\nfile = "s"\nbefore = "a"\nafter = "b"\nreason = " "', 3, "no complete"),
        (
            '[[equivalent]]\nfile = "s"\nbefore = "a"\nafter = "b"\nreason = "c"\nnth = 0',
            3,
            "no complete",
        ),
        (
            '[[equivalent]]\nfile = "s"\nbefore = "a"\nafter = "b"\nreason = "c"\nwhy = "d"',
            3,
            "no complete",
        ),
    ],
)
def test_a_record_that_cannot_be_read_is_a_complaint(text, line, told):
    """Each record has a file, two lines and a reason; what has not is told with the form."""
    (complaint,) = record(text).complaints
    assert complaint.line == line
    assert told in complaint.text
    assert "[[equivalent]] with file, before, after and reason" in complaint.cure


def test_a_record_is_made_once():
    """Two records of one mutant are a complaint on the second."""
    (complaint,) = record(EQUIVALENT, EQUIVALENT).complaints
    assert (complaint.line, "recorded twice" in complaint.text) == (9, True)


@pytest.mark.skipif(KIT.solutions is None, reason="this kit has no solutions")
@pytest.mark.parametrize("slug", problems.slugs(KIT))
def test_the_records_of_this_kit_name_mutants_that_there_are(slug):
    """Every recorded equivalent is a mutant of the references as they are now."""
    problem = problems.load(KIT, slug)
    found = Record.read(problem)
    assert found.complaints == ()
    assert found.entries.keys() <= {mutant.key for mutant in mutants.mutants(problem)}


def test_a_record_in_another_form_of_toml_is_read():
    """`[[ equivalent ]]` and a list of tables are TOML too; the line is then the first."""
    table = '{file = "solution.py", before = "a", after = "b", reason = "None."}'
    found = Record.parse("solutions/next/mutants.toml", f"equivalent = [{table}]\n")
    assert [entry.line for entry in found.entries.values()] == [1]
    assert found.complaints == ()
