"""`problem.toml`: what is read from it, and what is said about each way to get it wrong."""

from pathlib import Path

import pytest

from grader import kit as kits
from grader import problem as problems
from grader.faults import KitFault, UsageError
from grader.values import Array, array
from tests.conftest import TOML


def load(kit: Path, slug: str = "double") -> problems.Problem:
    return problems.load(kits.find(kit), slug)


def test_a_problem_is_a_folder_with_a_problem_toml(make_kit):
    """Nothing but the folder makes a problem exist, and a folder without the file is none."""
    kit = make_kit()
    (kit / "problems" / "notes").mkdir()
    assert problems.slugs(kits.find(kit)) == ["double"]


def test_a_problem_says_everything_its_file_says(make_kit):
    """Every key of the file arrives, in values that cannot be changed."""
    problem = load(make_kit())
    assert problem.title == "Double a number"
    assert problem.parameters == ("x",)
    assert problem.libraries == ("torch", "numpy")
    assert problem.sampled is False
    assert problem.hints == ("Adding counts as doubling.", "x + x")
    assert problem.limits == problems.Limits(load=10.0, call=2.0, submission=10.0, memory=1024)
    assert problem.points["numpy"] == problems.Points(public=3, hidden=0, extra=0)
    assert problem.examples == (problems.Example(title="Two", args=(2,), returns=4),)


def test_the_files_of_a_problem_are_found_by_name(make_kit):
    """The first library has the short names, the others their own; secrets may be absent."""
    kit = make_kit()
    problem = load(kit)
    assert problem.template("torch") == kit / "templates" / "double.py"
    assert problem.template("numpy") == kit / "templates" / "double_numpy.py"
    assert problem.checks == kit / "problems" / "double" / "checks.py"
    assert (problem.solution("torch"), problem.hidden, problem.draws) == (None, None, None)


def test_the_solution_is_found_where_it_is(make_kit):
    """An instructor's kit has the reference, per library."""
    kit = make_kit(solution="def double(x):\n    return 2 * x\n")
    problem = load(kit)
    assert problem.solution("torch") == kit / "solutions" / "double" / "solution.py"
    assert problem.solution("numpy") is None


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("entry =", "entrypoint =", "unknown key 'entrypoint' (did you mean 'entry'?)"),
        ("format = 1", "format = 2", "'format' is 2; this grader reads format 1"),
        ('title = "Double a number"\n', "", "'title' is missing"),
        ('title = "Double a number"', "title = 3", "'title' must be a text that is not empty"),
        ('title = "Double a number"', 'title = "a\\nb"', "'title' must be one line"),
        ('entry = "double"', 'entry = "two words"', "'entry' must be a Python name"),
        ('["x"]', '["x", "x"]', "'parameters' holds 'x' twice"),
        ('"numpy"]', '"nunpy"]', "'libraries' cannot hold 'nunpy' (did you mean 'numpy'?)"),
        ("sampled = false", "sampled = 0", "'sampled' must be true or false, not 0"),
        ('["Adding counts as doubling.", "x + x"]', "[]", "'hints' must be a list of texts"),
        ("call = 2", "call = 0", "'limits.call' must be a number of seconds above 0, not 0"),
        ("memory = 1024", "memory = 1.5", "'limits.memory' must be a whole number, 64 or more"),
        ("memory = 1024", "memmory = 1024", "'limits.memmory' (did you mean 'memory'?)"),
        ("public = 3, hidden", "public = -3, hidden", "'points.torch.public' must be a whole"),
        ("numpy = {", "jax = {", "unknown key 'points.jax'"),
        ("[points]", "[[points]]", "'points' must be a table"),
        ("args = [2]", "args = [2, 3]", "'examples[0].args' must be a list of arguments for (x)"),
        ("args = [2]", "args = [{ array = 2 }]", "must have a list as its array"),
        ("args = [2]", "args = [{ array = [2], dype = 'int64' }]", "an unknown key 'dype'"),
        ("args = [2]", "args = [{ seed = 'a' }]", "must have a whole number as its seed"),
        ("args = [2]", "args = [2024-01-01]", "cannot hold"),
        ("[[examples]]", "[examples]", "written [[examples]]"),
        ("format = 1", "format = ", "not valid TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_cure(make_kit, old, new, sentence):
    """Every fault says which file and which key, and what is wrong with it."""
    assert old in TOML
    with pytest.raises(KitFault) as caught:
        load(make_kit(toml=TOML.replace(old, new)))
    assert str(caught.value).startswith("problems/double/problem.toml: ")
    assert sentence in str(caught.value)


def test_a_file_that_is_not_utf8_is_a_fault_of_the_kit(make_kit):
    """A problem saved in another encoding is reported with the place."""
    kit = make_kit()
    (kit / "problems/double/problem.toml").write_bytes(b'title = "caf\xe9"')
    with pytest.raises(KitFault, match=r"problems/double/problem\.toml: not UTF-8 at byte 12"):
        load(kit)


def test_a_missing_page_is_a_fault_of_the_kit(make_kit):
    """A problem without its statement is broken, and says which file is missing."""
    kit = make_kit()
    (kit / "problems/double/statement.md").unlink()
    with pytest.raises(KitFault, match=r"problems/double/statement\.md: no such file"):
        load(kit).page("statement")


def test_an_unknown_problem_is_answered_with_the_nearest(make_kit):
    """A mistyped name is the user's mistake, and the answer offers the right one."""
    with pytest.raises(UsageError, match=r"no problem called 'duoble' \(did you mean 'double'\?\)"):
        load(make_kit(), "duoble")


def test_a_name_with_a_path_in_it_is_no_problem(make_kit):
    """A slug is a name of the list and never a way to another folder."""
    with pytest.raises(UsageError, match="no problem called"):
        load(make_kit(), "../problems/double")


def test_examples_are_decoded_into_values_of_the_library(make_kit):
    """Tables that say array, seed or tuple become values; other tables stay dicts."""
    toml = TOML.replace(
        "args = [2]\nreturns = 4",
        "args = [{ array = [[0.5, 0.25]] }]\n"
        "returns = { pair = { tuple = [{ array = [1], dtype = 'int64' }, 1] }, "
        "plain = [1.5, true] }",
    )
    (example,) = load(make_kit(toml=toml)).decoded_examples("numpy")
    (matrix,) = example.args
    assert isinstance(matrix, Array)
    assert (matrix.library, matrix.dtype, matrix.shape) == ("numpy", "float32", (1, 2))
    assert matrix.numbers().tolist() == [[0.5, 0.25]]
    numbers, count = example.returns["pair"]
    assert (numbers.dtype, numbers.numbers().tolist(), count) == ("int64", [1], 1)
    assert numbers.data == array([1], "int64", "numpy").data
    assert example.returns["plain"] == [1.5, True]


def test_a_folder_without_problems_is_no_kit(tmp_path):
    """Pointing at the wrong folder is the user's mistake."""
    with pytest.raises(UsageError, match="not a kit, it has no folder 'problems'"):
        kits.find(tmp_path)


def test_the_checkout_is_the_kit_of_the_package_in_it():
    """Without a folder the problems beside the package are used, under the package's version."""
    kit = kits.find()
    assert kit.name == "speculative-exercises"
    assert {"verify", "step"} <= {*problems.slugs(kit)}


@pytest.mark.parametrize("slug", ["verify", "step"])
def test_the_problems_of_the_kit_are_complete(slug):
    """Each one loads and has both pages, checks, and a stub for every library it offers."""
    problem = problems.load(kits.find(), slug)
    assert problem.page("statement").startswith("# ")
    assert problem.page("learn").startswith("# ")
    assert problem.checks.is_file()
    assert all(problem.template(library).is_file() for library in problem.libraries)
    assert len(problem.hints) >= 4
    assert all(problem.decoded_examples(library) for library in problem.libraries)
