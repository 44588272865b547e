"""The rules of a kit's files: a sound kit has no complaint, and each rule that is broken has one.

A test breaks one rule by hand and says where the complaint must stand: `at` is in its line.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import kit as kits
from grader import problem as problems
from grader.dev import rules
from grader.dev.complaints import Complaint
from grader.faults import UsageError
from grader.kit import Kit
from tests import dev_kits

TOML = "problems/halve/problem.toml"
STATEMENT = "problems/halve/statement.md"
LEARN = "problems/halve/learn.md"
CHECKS = "problems/halve/checks.py"
HIDDEN = "solutions/halve/hidden.py"
STUB = "templates/halve.py"
REFERENCE = "solutions/halve/solution.py"
KNOWN = [name for name in dev_kits.FILES if "/right/" in name or "/wrong/" in name]
RIGHT = "solutions/halve/right/product.py"

Told = Callable[..., None]


@pytest.fixture(name="kit")
def _kit(tmp_path: Path) -> Kit:
    return dev_kits.write(tmp_path / "kit")


@pytest.fixture(name="edit")
def _edit(kit: Kit) -> Callable[[str, str, str], None]:
    return lambda name, old, new: dev_kits.edit(kit.root, name, old, new)


@pytest.fixture(name="told")
def _told(kit: Kit) -> Told:
    """Asks for the only complaint: its file, a piece of the line it names, its text and cure."""

    def told(file: str, text: str, cure: str, at: str | None = None) -> None:
        found = sorted({*rules.static(kit, "halve"), *rules.strays(kit)})
        assert [complaint.file for complaint in found] == [file], [*map(str, found)]
        (complaint,) = found
        assert text in complaint.text
        assert cure in complaint.cure
        if at is None:
            assert complaint.line == 1
        else:
            assert (
                at in (kit.root / file).read_text(encoding="utf-8").splitlines()[complaint.line - 1]
            )

    return told


# ---- sound kits


def test_the_sound_kit_has_no_complaint(kit):
    """Nothing is said of a kit whose files agree."""
    assert (rules.static(kit, "halve"), rules.strays(kit)) == ([], [])


def test_a_learners_kit_has_no_complaint(kit):
    """Where the solutions are not, nothing is missing."""
    shutil.rmtree(kit.root / "solutions")
    learners = kits.find(kit.root)
    assert (rules.static(learners, "halve"), rules.strays(learners)) == ([], [])


@pytest.mark.parametrize("slug", problems.slugs(kits.find()))
def test_the_files_of_every_problem_agree(slug):
    """The problems of this kit keep every rule."""
    assert [*map(str, rules.static(kits.find(), slug))] == []


def test_no_file_of_this_kit_is_a_stray():
    """Every file of this kit lies where a rule puts it."""
    assert [*map(str, rules.strays(kits.find()))] == []


def test_a_problem_that_does_not_exist_is_the_callers_mistake(kit):
    """A slug that the kit does not have is no complaint about the kit."""
    with pytest.raises(UsageError, match=r"did you mean 'halve'\?"):
        rules.static(kit, "halv")


def test_a_complaint_reads_as_place_text_and_cure(kit, edit):
    """A complaint is printed with file and line in front and the cure below."""
    edit(TOML, "submission = 10", "submission = 1")
    (complaint,) = rules.static(kit, "halve")
    assert isinstance(complaint, Complaint)
    assert str(complaint) == (
        "problems/halve/problem.toml:15: one call may take 2 seconds and the whole submission "
        "only 1\n    write `submission = 2` or more, or a smaller `call`"
    )


# ---- problem.toml


def test_a_wrong_value_is_told_at_its_line(edit, told):
    """A value that the file may not hold is told with the line of its key."""
    edit(TOML, "memory = 1024", "memory = 1.5")
    told(TOML, "'limits.memory' must be a whole number", "correct `memory`", "memory = 1.5")


def test_an_unknown_key_is_told_with_the_one_that_was_meant(edit, told):
    """A misspelt key is told with its right name."""
    edit(TOML, "load = 10", "laod = 10")
    told(TOML, "unknown key 'limits.laod'", "write `load`", "laod = 10")


def test_a_missing_key_is_told_at_its_table(edit, told):
    """A key that is not there is told at the head of the table that it belongs to."""
    edit(TOML, "load = 10\n", "")
    told(TOML, "'limits.load' is missing", "add `load = …`", "[limits]")


def test_an_example_is_told_at_its_own_line(edit, told):
    """Of several tables of one name the broken one is told."""
    edit(
        TOML, "args = [{ array = [1.0, 0.0] }, 2]", "args = [{ aray = [1.0, 0.0] }, { seed = 'a' }]"
    )
    told(TOML, "'examples[1].args'", "correct `args`", "aray")


def test_broken_toml_is_told_at_its_line(edit, told):
    """A line that is no TOML is told."""
    edit(TOML, "sampled = false", "sampled = ")
    told(TOML, "not valid TOML", "correct the TOML of this line", "sampled = ")


def test_a_call_fits_into_a_submission(edit, told):
    """One call may not take longer than all calls together."""
    edit(TOML, "call = 2", "call = 20")
    told(TOML, "one call may take 20 seconds", "write `submission = 20`", "call = 20")


def test_no_hint_is_given_twice(edit, told):
    """A hint that repeats an earlier one is told at its own line."""
    edit(TOML, '  "Do it as', '  "Half of a number is  the number times 0.5.",\n  "Do it as')
    told(TOML, "hint 2 says what hint 1 says", "delete one of them", "is  the number")


# ---- the check files


def test_the_points_add_up(edit, told):
    """What the checks of a library add up to is what is declared for it."""
    edit(CHECKS, "points(2, group", "points(1, group")
    told(
        TOML,
        "for torch add up to public = 4, hidden = 4, extra = 1",
        "write `torch = { public = 4, hidden = 4, extra = 1 }`",
        "torch = {",
    )


def test_hidden_points_add_up_for_each_library(edit, told):
    """A hidden check of one library counts for that library only."""
    edit(
        HIDDEN,
        '@pytest.mark.points(4, group="values")',
        '@pytest.mark.points(4, group="values")\n@pytest.mark.library("torch")',
    )
    told(TOML, "for numpy add up to public = 3, hidden = 0", "hidden = 0, extra = 1", "numpy = {")


def test_extra_credit_is_declared_as_such(edit, told):
    """Extra points are no part of the public ones."""
    edit(
        TOML,
        "numpy = { public = 3, hidden = 4, extra = 1 }",
        "numpy = { public = 4, hidden = 4, extra = 0 }",
    )
    told(TOML, "declared are public = 4, hidden = 4, extra = 0", "extra = 1", "numpy = {")


def test_every_check_has_points(edit, told):
    """A check without points is told at its function."""
    edit(CHECKS, '@pytest.mark.points(2, group="device")\n', "")
    told(
        CHECKS, "test_device_is_kept has no points", "put @pytest.mark.points(2", "def test_device"
    )


def test_points_are_a_whole_number_that_stands_there(edit, told):
    """Points that must be calculated cannot be added up without running the file."""
    edit(CHECKS, "points(2,", "points(len(cases),")
    told(CHECKS, "no whole number", "write a number, 1 or more", "points(len(cases)")


def test_points_stand_there_once(edit, told):
    """Two markers of points are one too many."""
    edit(
        CHECKS,
        "@pytest.mark.points(2,",
        '@pytest.mark.points(2, group="device")\n@pytest.mark.points(3,',
    )
    told(CHECKS, "has points twice", "delete one", 'points(3, group="device"')


def test_every_check_has_a_group_that_is_known(edit, told):
    """A group that no verdict and no report knows is told with the nearest one."""
    edit(CHECKS, 'group="device"', 'group="devices"')
    told(CHECKS, "no group is called 'devices'", 'write group="device"', 'group="devices"')


def test_a_group_of_sampled_problems_is_theirs_alone(edit, told):
    """`law`, `draws` and `seeded` mean nothing where nothing is sampled."""
    edit(CHECKS, 'points(2, group="device")', 'points(2, group="law")')
    told(CHECKS, "the group law is one of sampled problems", "sampled = true", 'group="law"')


@pytest.mark.parametrize(
    ("line", "text", "cure"),
    [
        ("import torch", "imports PyTorch", "draws.py"),
        ("from torch import nn", "imports PyTorch", "draws.py"),
        ("from solutions.halve import hidden", "imports from solutions/", "cases.py"),
    ],
)
def test_a_check_file_imports_what_a_learners_kit_has(edit, told, line, text, cure):
    """PyTorch is never loaded beside the checks, and a learner has no solutions."""
    edit(CHECKS, "import pytest\n", f"import pytest\n{line}\n")
    told(CHECKS, text, cure, line)


def test_every_check_has_a_group(edit, told):
    """Points without a group are told with the groups there are."""
    edit(CHECKS, 'points(2, group="device")', "points(2)")
    told(CHECKS, "has no group", "one of contract, device, draws, edges", "points(2)")


def test_points_have_no_unknown_option(edit, told):
    """A misspelt option would be ignored by pytest, so it is told."""
    edit(CHECKS, 'points(2, group="device"', 'points(2, group="device", bonus=True')
    told(CHECKS, "and nothing else", "extra=True for extra credit", "bonus=True")


def test_every_check_has_a_docstring(edit, told):
    """A check without the sentence that a learner reads is told."""
    edit(CHECKS, '    """A row without numbers has no halves."""\n', "")
    told(CHECKS, "test_empty_row has no docstring", "the sentence that a learner", "def test_empty")


def test_the_docstring_begins_with_a_sentence(edit, told):
    """The first paragraph ends in a full stop."""
    edit(CHECKS, "device of the row.", "device of the row")
    told(CHECKS, "is no sentence", "end it with a full stop", "device of the row")


def test_no_two_checks_have_one_sentence(edit, told):
    """Hidden and public checks are told apart by what they say."""
    edit(HIDDEN, "Every fresh number", "Every number")
    told(
        HIDDEN, f"the sentence of the check in {CHECKS}:10", "what this one asks", "def test_fresh"
    )


def test_no_two_checks_have_one_name(edit, told):
    """A hidden check may not be called what a public one is called."""
    edit(HIDDEN, "test_fresh_numbers", "test_numbers")
    told(HIDDEN, f"is also the check in {CHECKS}:10", "another name", "def test_numbers")


def test_a_check_is_for_a_library_that_is_offered(edit, told):
    """A check for another library would never be run."""
    edit(CHECKS, 'library("torch")', 'library("jax")')
    found = "is for a library that the problem is not offered in"
    edit(TOML, "torch = { public = 5", "torch = { public = 3")
    told(CHECKS, found, "name one of torch, numpy", 'library("jax")')


def test_a_hint_of_a_check_is_a_text(edit, told):
    """The hint of a check is one text that is not empty."""
    edit(CHECKS, 'hint("Times 0.5.")', 'hint(" ")')
    told(CHECKS, "its hint is no text", "with one sentence", "hint(")


def test_draws_are_asked_for_where_they_are(edit, told):
    """A check that asks for draws needs the file that makes them."""
    edit(CHECKS, "def test_empty_row(submission)", "def test_empty_row(submission, draws)")
    told(CHECKS, "has no draws.py", "write problems/halve/draws.py", "def test_empty_row")


def test_a_public_check_asks_for_no_reference(edit, told):
    """A learner's kit has no reference, so a public check cannot ask it."""
    edit(CHECKS, "def test_empty_row(submission)", "def test_empty_row(submission, reference)")
    told(CHECKS, "asks for the reference", "move it to solutions/halve/hidden.py", "def test_empty")


def test_a_sampled_problem_has_the_groups_of_its_verdict(kit, edit, told):
    """Where the verdict is about a law, checks of the law, the draws and the seeds are there."""
    edit(TOML, "sampled = false", "sampled = true")
    edit(CHECKS, 'group="device"', 'group="law"')
    edit(HIDDEN, 'group="values"', 'group="seeded"')
    edit(TOML, 'libraries = ["torch", "numpy"]', 'libraries = ["torch"]')
    edit(TOML, "numpy = { public = 3, hidden = 4, extra = 1 }\n", "")
    for name in ("templates/halve_numpy.py", "solutions/halve/solution_numpy.py"):
        (kit.root / name).unlink()
    told(TOML, "no check for torch is of the group draws", "add such a check", "sampled = true")


def test_a_check_file_is_python(edit, told):
    """A check file that cannot be read is told at the line where Python stopped."""
    edit(CHECKS, "def test_empty_row(submission):", "def test_empty_row(submission)")
    told(CHECKS, "is not Python", "correct this line", "def test_empty_row(submission)")


def test_there_are_checks(kit, told):
    """A problem without its check file is told what to write."""
    (kit.root / CHECKS).unlink()
    told(CHECKS, "no such file", "functions `test_…`")


@pytest.mark.parametrize("name", [CHECKS, HIDDEN])
def test_a_check_file_has_checks(kit, told, name):
    """A check file that checks nothing is told."""
    (kit.root / name).write_text("from problems.halve import cases\n", encoding="utf-8")
    told(name, "has no check in it", "functions `test_…`")


def test_an_instructors_kit_has_hidden_checks(kit, told):
    """Where there are solutions there are hidden checks."""
    (kit.root / HIDDEN).unlink()
    told(HIDDEN, "no such file", "write it")


# ---- the pages


@pytest.mark.parametrize("page", [STATEMENT, LEARN])
def test_both_pages_are_there(kit, told, page):
    """A problem without a page is told which one to write."""
    dev_kits.edit(kit.root, STATEMENT, " [Why](learn.md) is told elsewhere.", "")
    (kit.root / page).unlink()
    told(page, "no such file", "write it: w")


def test_a_page_is_not_empty(kit, told):
    """An empty page is as good as none."""
    (kit.root / LEARN).write_text("\n", encoding="utf-8")
    told(LEARN, "is empty", "write it: why")


def test_a_page_begins_with_its_title(edit, told):
    """The first line of a page is its title."""
    edit(LEARN, "# Why half is half", "Why half is half")
    told(LEARN, "does not begin with a title", "write `# `")


def test_the_statement_names_the_entry(edit, told):
    """A learner reads in the statement what to write."""
    edit(STATEMENT, "`halve(row, times)`", "`half(row, times)`")
    edit(STATEMENT, "print(halve(row, 2))\n# (tensor([0.2500, 0.0000]), 2)", "# 2: (0.25, 0), 2")
    told(STATEMENT, "does not name the entry `halve`", "say in the statement what `halve` is")


def test_the_statement_names_every_parameter(edit, told):
    """A learner reads in the statement what the function is given."""
    edit(TOML, '"times"]', '"often"]')
    edit(STUB, "times: int", "often: int")
    edit("templates/halve_numpy.py", "times: int", "often: int")
    edit("templates/halve_numpy.py", "times=1)", "often=1)")
    edit("solutions/halve/solution_numpy.py", "times=1)", "often=1)")
    edit(REFERENCE, "times: int", "often: int")
    edit("solutions/halve/solution_numpy.py", "times: int", "often: int")
    edit(RIGHT, "times=1", "often=1")
    told(STATEMENT, "does not name the parameter `often`", "or correct problem.toml")


def test_formulas_can_be_shown(edit, told):
    """A command that stays as it is written in a terminal is told."""
    edit(LEARN, "+ \\frac{x}{2}", "+ \\halff{x}{2}")
    told(LEARN, "shows `\\halff` as it is written", "between dollar signs", "halff")


def test_a_formula_does_not_break_the_page(edit, told):
    """A formula that cannot be read at all is told, and is no crash."""
    edit(LEARN, "\\frac{x}{2} + \\frac{x}{2}", "{" * 5000 + "x" + "}" * 5000)
    told(LEARN, "a formula here cannot be shown: RecursionError", "simpler LaTeX", "{{{{")


def test_local_links_lead_to_files(edit, told):
    """A link that leads nowhere is told; one to the web or to code is not followed."""
    edit(
        STATEMENT,
        "is told elsewhere",
        "and [how](how.md), not [there](https://e.org/a) or `[b](c)`",
    )
    told(
        STATEMENT, "links to how.md, and there is no such file", "correct the link", "[how](how.md)"
    )


def test_local_links_stay_in_the_problems(edit, told):
    """A page does not link to what a learner never receives."""
    edit(LEARN, "It follows", "It [follows](../../solutions/halve/solution.py)")
    told(LEARN, "does not go with the problems", "copy the file beside the page", "[follows]")


def test_code_of_a_page_is_python(edit, told):
    """A block that says it is Python can be pasted into a file."""
    edit(STATEMENT, "import torch\n", "import torch as\n")
    edit(STATEMENT, "Another one, as code:", "Another one, as code: [1, 0], 2, (0.25, 0), 2")
    told(STATEMENT, "this code is not Python", "```text", "import torch as")


def test_the_statement_defines_the_entry_as_the_stub_does(edit, told):
    """Names, order and defaults of the statement are the stub's."""
    edit(STATEMENT, "import torch\n", "def halve(row, times): ...\n")
    told(
        STATEMENT,
        "is defined with (row, times), and in the stub with (row, times=1)",
        f"copy the parameters from {STUB}:6",
        "def halve(row, times)",
    )


# ---- stub, reference, right files


@pytest.mark.parametrize("name", [STUB, REFERENCE])
def test_every_library_has_its_stub_and_reference(kit, told, name):
    """Each library that is offered has a stub and, for an instructor, a reference."""
    (kit.root / name).unlink()
    told(name, "no such file", "write the")


def test_a_stub_defines_the_entry(edit, told):
    """The stub has the function that problem.toml names."""
    edit(STUB, "def halve(", "def half(")
    told(STUB, "does not define halve", "write `def halve(row, times):`")


@pytest.mark.parametrize("name", [STUB, REFERENCE])
def test_the_parameters_are_the_declared_ones(kit, edit, name):
    """Names and order of the parameters are those of problem.toml, in stub and reference."""
    edit(name, "row: torch.Tensor, times: int = 1", "times: int, row: torch.Tensor")
    found = [c for c in rules.static(kit, "halve") if "problem.toml says" in c.text]
    assert [*map(str, found)] == [
        f"{name}:6: halve takes (times, row), and problem.toml says (row, times)\n"
        "    write `def halve(row, times):`, or correct `parameters` in problem.toml"
    ]


def test_the_signature_is_the_references(edit, told):
    """Annotations and defaults of the stub are the reference's."""
    edit(STUB, "times: int = 1", "times: int = 2")
    edit(RIGHT, "times=1", "times=2")
    told(
        STUB,
        "the signature is `(row: torch.Tensor, times: int=2)",
        f"copy it from {REFERENCE}:6",
        "def halve",
    )


def test_the_docstring_is_the_references(edit, told):
    """The line is told from which on the docstrings differ."""
    edit(REFERENCE, "(tensor([1.0000, 2.5000]), 1)", "(tensor([1.0, 2.5]), 1)")
    told(STUB, "is not the reference's from this line", f"from {REFERENCE}:7", "(tensor([1.0000")


def test_the_entry_has_a_docstring(edit, told):
    """What the function takes and returns stands at the function."""
    edit(REFERENCE, '"""Halve every', '_ = """Halve every')
    told(REFERENCE, "halve has no docstring", "what it takes and returns", "def halve")


def test_a_stub_only_says_that_it_is_not_written(edit, told):
    """A stub holds no part of a solution."""
    edit(STUB, "    raise NotImplementedError", "    half = row / 2\n    raise NotImplementedError")
    told(STUB, "does more than to say", '`raise NotImplementedError("write halve here")`', "half =")


def test_a_right_file_is_called_like_the_stub(edit, told):
    """Right files keep names, order and defaults, so that every check can call them."""
    edit(RIGHT, "row, times=1", "x, times=1")
    told(
        RIGHT,
        "does not define halve(row, times=1)",
        "write `def halve(row, times=1):`",
        "def halve",
    )


# ---- worked examples


def test_every_graded_example_stands_in_the_statement(edit, told):
    """An example that a learner cannot read is told by its title."""
    edit(STATEMENT, "| [2, 5] | 1 | ([1, 2.5], 1) |\n", "")
    told(
        TOML,
        "the example “Two numbers” does not stand",
        "add it to problems/halve/statement.md",
        "[[examples]]",
    )


def test_a_row_of_examples_is_graded(edit, told):
    """In a table headed by parameters every row is a graded example."""
    row = "| [2, 5] | 1 | ([1, 2.5], 1) |\n"
    edit(STATEMENT, row, row + "| [4, 5] | 1 | ([2, 2.5], 1) |\n")
    told(STATEMENT, "the example of this row is not graded", "as [[examples]]", "[4, 5]")


def test_a_printed_example_is_graded(edit, told):
    """What the statement prints is asked of a submission; the cure is what to write down."""
    edit(
        STATEMENT,
        "# (tensor([0.2500, 0.0000]), 2)\n",
        "# (tensor([0.2500, 0.0000]), 2)\nprint(halve(-row, 1))\n"
        "print(halve(torch.tensor([[1 / 4, -1.0]]), times=2))  # (tensor([[0.0625, -0.25]]), 2)\n",
    )
    told(
        STATEMENT,
        "this example is not graded",
        "args = [{ array = [[0.25, -1.0]] }, 2] "
        "returns = { tuple = [{ array = [[0.0625, -0.25]] }, 2] }",
        "1 / 4",
    )


def test_a_printed_example_answers_what_is_graded(edit, told):
    """An answer that differs from the graded one is told with both."""
    edit(STATEMENT, "# (tensor([0.2500, 0.0000]), 2)", "# (tensor([0.2500, 0.5000]), 2)")
    edit(STATEMENT, "Another one, as code:", "Another one, as code: [1, 0], 2, (0.25, 0), 2")
    told(
        STATEMENT,
        "answers { tuple = [{ array = [0.25, 0.5] }, 2] }, and the graded one “Twice” "
        "{ tuple = [{ array = [0.25, 0.0] }, 2] }",
        f"`returns` in {TOML}",
        "print(halve(row,",
    )


def test_a_printed_example_can_be_read(edit, told):
    """An argument that only running would tell cannot be compared, and is told."""
    edit(STATEMENT, "print(halve(row, 2))", "print(halve(torch.ones(2), 2))")
    edit(STATEMENT, "Another one, as code:", "Another one, as code: [1, 0], 2, (0.25, 0), 2")
    told(STATEMENT, "`torch.ones(2)` is no literal", "write its arguments as numbers", "torch.ones")


def test_an_example_of_a_docstring_is_graded(edit, told):
    """The examples of every stub are graded too."""
    edit("templates/halve_numpy.py", "[2.0, 5.0]", "[2.0, 4.0]")
    edit("solutions/halve/solution_numpy.py", "[2.0, 5.0]", "[2.0, 4.0]")
    told("templates/halve_numpy.py", "this example is not graded", "{ array = [2.0, 4.0] }", ">>>")


def test_a_seed_is_part_of_an_example(edit, told):
    """Two examples with generators of different seeds are two examples."""
    edit(
        TOML, "args = [{ array = [1.0, 0.0] }, 2]", "args = [{ array = [1.0, 0.0] }, { seed = 1 }]"
    )
    edit(STATEMENT, "print(halve(row, 2))", "print(halve(row, torch.Generator().manual_seed(2)))")
    told(STATEMENT, "this example is not graded", "{ seed = 2 }", "manual_seed(2)")


def test_a_rounded_number_of_the_page_is_the_number(kit, edit):
    """The page may round to three digits or more, and not to fewer."""
    edit(TOML, "args = [{ array = [2.0, 5.0] }, 1]", "args = [{ array = [2.0, 5.0004] }, 1]")
    edit(STATEMENT, "| [2, 5] |", "| [2, 5.000] |")
    told = [complaint.file for complaint in rules.static(kit, "halve")]
    assert told == ["templates/halve.py", "templates/halve_numpy.py"]


# ---- strays


@pytest.mark.parametrize(
    ("name", "text", "cure"),
    [
        ("problems/halve/.DS_Store", "left over from an editor", "rm problems/halve/.DS_Store"),
        ("problems/halve/checks.py~", "left over from an editor", "rm problems/halve/checks.py~"),
        (
            "problems/halve/notes.txt",
            "nothing that a rule",
            "or delete it: rm problems/halve/notes.txt",
        ),
        ("problems/halve/figures/half.png", "nothing that a rule", "rm -r problems/halve/figures"),
        ("problems/halve/more.py", "imported by no check file", "as problems.halve.more where"),
        ("problems/README.md", "nothing that a rule", "rm problems/README.md"),
        (
            "problems/third/checks.py",
            "the folder of no problem",
            "write problems/third/problem.toml",
        ),
        ("templates/third.py", "is the stub of no problem", "rm templates/third.py"),
        (
            "templates/halve_jax.py",
            "a library that its problem is not",
            "rm templates/halve_jax.py",
        ),
        ("solutions/third/hidden.py", "the folder of no problem", "rm -r solutions/third"),
        ("solutions/halve/solution_jax.py", "a library that the problem is not", "add the library"),
        (
            "solutions/halve/other.py",
            "in none of the folders",
            "move it to halve/right, halve/wrong",
        ),
        (
            "solutions/halve/wrong/notes.txt",
            "nothing that a rule",
            "rm solutions/halve/wrong/notes.txt",
        ),
        ("solutions/halve/stream/coin.py", "this one is not sampled", "`sampled = true`"),
    ],
)
def test_a_stray_is_told_with_what_to_do(kit, name, text, cure):
    """A file that no rule knows is told, and a folder of such files once."""
    dev_kits.add(kit.root, name)
    (complaint,) = rules.strays(kit)
    assert name.startswith(complaint.file)
    assert complaint.rule == "stray file"
    assert text in complaint.text
    assert cure in complaint.cure


@pytest.mark.parametrize(
    "name",
    [
        "problems/halve/draws.py",
        "problems/halve/diagnosis.py",
        "problems/halve/diagnosis.json",
        "problems/halve/__pycache__/checks.cpython-311.pyc",
        "templates/__pycache__/halve.cpython-311.pyc",
        "solutions/halve/mutants.toml",
        "solutions/halve/wrong/__pycache__/as_it_came.cpython-311.pyc",
        "solutions/halve/right/another.py",
    ],
)
def test_a_file_that_a_rule_knows_is_no_stray(kit, name):
    """Optional files and what Python itself leaves behind are no strays."""
    dev_kits.add(kit.root, name)
    assert rules.strays(kit) == []


def test_a_linked_file_is_no_stray(kit, edit):
    """A picture lies beside the page that shows it."""
    dev_kits.add(kit.root, "problems/halve/figures/half.png", b"\x89PNG")
    edit(LEARN, "It follows", "![half](figures/half.png) It follows")
    assert [*rules.strays(kit), *rules.static(kit, "halve")] == []


def test_a_module_of_a_module_is_no_stray(kit, edit):
    """What a module of the checks imports in its turn belongs to the problem."""
    dev_kits.add(kit.root, "problems/halve/rows.py")
    edit("problems/halve/cases.py", '"""The', 'from problems.halve.rows import x\n"""The')
    assert rules.strays(kit) == []


def test_streams_belong_to_a_sampled_problem(kit, edit):
    """A sampled problem has stream files."""
    dev_kits.add(kit.root, "solutions/halve/stream/coin.py")
    edit(TOML, "sampled = false", "sampled = true")
    assert rules.strays(kit) == []


def test_names_are_lower_case_python_names(kit, told):
    """A name that Python cannot import, or one system tells apart and another not, is told."""
    dev_kits.add(kit.root, "solutions/halve/wrong/Half-Way.py", dev_kits.WRONG)
    told(
        "solutions/halve/wrong/Half-Way.py",
        "no Python name in lower case",
        "mv solutions/halve/wrong/Half-Way.py solutions/halve/wrong/half_way.py",
    )


def test_a_known_file_is_of_a_library_that_is_offered(kit, edit):
    """A NumPy answer to a problem of PyTorch alone would be graded as what it is not."""
    name = "solutions/halve/wrong/as_it_came_numpy.py"
    edit(name, "def halve", "import numpy as np\n\n\ndef halve")
    edit(TOML, 'libraries = ["torch", "numpy"]', 'libraries = ["torch"]')
    edit(TOML, "numpy = { public = 3, hidden = 4, extra = 1 }\n", "")
    (kit.root / "templates/halve_numpy.py").unlink()
    (kit.root / "solutions/halve/solution_numpy.py").unlink()
    (complaint,) = rules.strays(kit)
    assert (complaint.file, complaint.text) == (
        name,
        "is written in numpy, and halve is offered in torch",
    )
    assert f"delete it: rm {name}" in complaint.cure


@pytest.mark.parametrize("name", ["problems/halve/cases.py", LEARN, STUB, CHECKS])
def test_files_are_utf8(kit, told, name):
    """A file in another encoding is told at the line where it begins to differ."""
    path = kit.root / name
    path.write_bytes(path.read_bytes() + b"\n# caf\xe9\n")
    found = {*rules.static(kit, "halve"), *rules.strays(kit)}
    (complaint,) = [complaint for complaint in found if complaint.text == "is not UTF-8"]
    assert (complaint.file, complaint.cure) == (name, "save it as UTF-8")
    assert complaint.line == path.read_bytes().count(b"\n")


def test_a_broken_declaration_makes_no_strays(kit, edit):
    """What a problem offers cannot be told from a broken file, so nothing of it is called stray."""
    edit(TOML, "format = 1", "format = ")
    dev_kits.add(kit.root, "solutions/halve/stream/coin.py")
    assert rules.strays(kit) == []
    assert [complaint.file for complaint in rules.static(kit, "halve")] == [TOML]


def test_a_problem_has_a_name_that_can_be_imported(kit):
    """Check files import from their problem's folder, so its name is a Python name."""
    (kit.root / "problems/halve").rename(kit.root / "problems/Half-Row")
    (complaint,) = [c for c in rules.strays(kit) if "is called" in c.text]
    assert (complaint.file, complaint.line) == ("problems/Half-Row/problem.toml", 1)
    assert "Half-Row, which is no Python name" in complaint.text
    assert "mv problems/Half-Row problems/half_row" in complaint.cure


@pytest.mark.parametrize("content", [b"\0(", b"\xff"])
@pytest.mark.parametrize("name", [name for name in dev_kits.FILES if name not in KNOWN])
def test_no_file_is_too_broken_to_be_told(kit, name, content):
    """Whatever a file holds, the rules go on and tell it."""
    dev_kits.add(kit.root, name, content)
    found = [*rules.static(kit, "halve"), *rules.strays(kit)]
    assert name in {complaint.file for complaint in found}
