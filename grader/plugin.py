"""The pytest plugin: what a check file may ask for, and how its outcome is recorded.

`pytest -p grader.plugin problems/verify/checks.py --submission verify.py` runs the checks with
pytest's own output; `grader.session` runs them the same way and reads the record. A check may raise
`Mismatch` or fail an assertion (points lost) or be skipped (not run); any other exception is a
fault of the kit and is recorded as one.
"""

from __future__ import annotations

import random
import secrets
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader import kit as kits
from grader import problem as problems
from grader import submission_file
from grader.dialogue import Talk
from grader.expect import Difference, Expectation, Likeness, Mismatch
from grader.faults import GradeError, KitFault
from grader.grading import Grading, Request
from grader.memory import Key
from grader.submission import (
    Evidence,
    Helper,
    NoDevice,
    NotLoaded,
    NotRun,
    Submission,
    Tally,
    Trusted,
)
from grader.values import FLOATING, show
from grader.workers import launcher

PUBLIC_SALT = "public"

GRADING = pytest.StashKey[Grading]()
PARKED = pytest.StashKey[bool]()  # the checks wait for submissions: see `grader.checkrun.park`
_RECORD = pytest.StashKey[dict[str, Any]]()
_COMPARED = pytest.StashKey[tuple[Difference, Likeness]]()
_TALK = pytest.StashKey[Talk | None]()
_TOLD_IN_FULL = pytest.StashKey[bool]()


@dataclass(frozen=True)
class Facts:
    """What a check function says about itself: its markers and its docstring."""

    function: str
    title: str
    group: str
    points: int
    extra: bool
    hint: str | None
    hidden: bool


# ---- options and set-up


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("grader", "grading a submission")
    group.addoption("--submission", metavar="FILE", type=Path, help="the file to grade")
    group.addoption("--library", default="auto", help="auto, torch or numpy")
    group.addoption("--device", default="cpu", help="cpu or cuda")
    group.addoption("--grading-seed", type=int, default=None, help="seed of the hidden checks")


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "points(n, group, extra=False): what a check earns, and what kind of check it is",
        "hint(sentence): told when the check fails",
        "library(name): only when the submission is written in this library",
        "fresh: the check gets a worker of its own",
    ):
        config.addinivalue_line("markers", line)
    if GRADING in config.stash or config.getoption("help", False):
        return
    # Run by hand. A session that grades has put its own Grading in the stash by now.
    try:
        config.stash[GRADING] = _grading_by_hand(config)
    except GradeError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[_TOLD_IN_FULL] = True
    config.add_cleanup(lambda: config.stash[GRADING].__exit__(None, None, None))


def _grading_by_hand(config: pytest.Config) -> Grading:
    path = config.getoption("submission")
    if path is None:
        raise KitFault("grader.plugin: say which file to grade with --submission FILE")
    given = [Path(str(argument).partition("::")[0]).resolve() for argument in config.args]
    folders = [p.parent if p.is_file() else p for p in given]
    found = {(f.parent.parent, f.name) for f in folders if f.parent.name in _PROBLEM_FOLDERS}
    if len(found) != 1:
        raise KitFault(
            "grader.plugin: give the check files of one problem, problems/SLUG/checks.py"
        )
    root, slug = found.pop()
    kit = kits.find(root)
    put_on_path(kit)
    problem = problems.load(kit, slug)
    source = submission_file.read(path)
    library = submission_file.chosen_library(
        config.getoption("library"), source, slug, problem.libraries
    )
    seed = config.getoption("grading_seed")
    request = Request(
        kit=kit,
        problem=problem,
        source=source.text.encode(),
        library=library,
        device=config.getoption("device"),
        seed=secrets.randbelow(2**32) if seed is None else seed,
        hidden=True,
    )
    workers = launcher("auto")
    config.add_cleanup(workers.close)
    return Grading(request, workers)


_PROBLEM_FOLDERS = ("problems", "solutions")


def put_on_path(kit: kits.Kit) -> None:
    """Lets check files import their siblings as `problems.<slug>.cases`."""
    root = str(kit.root)
    if root not in sys.path:
        sys.path.insert(0, root)


# ---- collecting


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    grading = metafunc.config.stash[GRADING]
    library: Any = grading.request.library
    names = metafunc.fixturenames
    marked = [m.args[0] for m in metafunc.definition.iter_markers("parametrize")]
    if "dtype" in names and "dtype" not in marked:
        metafunc.parametrize("dtype", FLOATING[library])
    if "example" in names and "example" not in marked:
        examples = grading.request.problem.decoded_examples(library)
        metafunc.parametrize("example", examples, ids=[e.title for e in examples])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    library = config.stash[GRADING].request.library
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        marker = item.get_closest_marker("library")
        (kept if marker is None or library in marker.args else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept
    for item in items:
        item.stash[_RECORD] = {"facts": asdict(facts_of(item))}
        item.repr_failure = partial(_repr_failure, item.repr_failure)  # type: ignore[method-assign]


def _repr_failure(
    usual: Callable[..., Any], excinfo: pytest.ExceptionInfo[BaseException], *args: Any
) -> Any:
    """A failure that is a message is told by it alone. pytest would look up the file of every frame
    that led to it first, which takes longer than most checks."""
    error = excinfo.value
    if isinstance(error, pytest.fail.Exception) and not error.pytrace:
        return str(error)
    return usual(excinfo, *args)


def pytest_collection_finish(session: pytest.Session) -> None:
    if PARKED not in session.config.stash:
        _prepare(session)


def begin(session: pytest.Session, grading: Grading) -> None:
    """Makes collected checks ready to run on another submission."""
    session.config.stash[GRADING] = grading
    for item in session.items:
        item.stash[_RECORD] = {"facts": item.stash[_RECORD]["facts"]}
        item.stash[_TALK] = None
    _prepare(session)


def learn(item: pytest.Item, grading: Grading, record: dict[str, Any]) -> None:
    """Remembers how a check went, if replies to it are all that it has heard."""
    talk = item.stash.get(_TALK, None)
    if talk is None or record["outcome"] not in ("passed", "failed") or _hears_more(item):
        return
    if grading.memory and (dialogue := grading.memory.dialogue(_key(item, grading))):
        dialogue.learn(talk, record)


def settled(item: pytest.Item, grading: Grading) -> dict[str, Any] | None:
    """The record of a check that hears what it has heard before; None where it has to be run."""
    if grading.memory is None or (dialogue := grading.memory.dialogue(_key(item, grading))) is None:
        return None
    # To load the submission, or fail to, is left to a check that is run.
    own = grading.submission_on(_accelerator(item, grading))
    if _wants_no_history(item) or not own.is_loaded:
        return None
    began = time.monotonic()
    if item.stash[_RECORD]["facts"]["hidden"]:
        grading.stop_telling()
    own.begin(_key(item, grading))
    record = own.settle(dialogue)
    if record is None:
        return None
    own.leave()
    return {**record, "seconds": time.monotonic() - began}


# What only hears the submission by the messages of the check itself, or does not hear it.
_OWN_FIXTURES = frozenset(
    {"submission", "reference", "draws", "library", "accelerator", "rng", "example", "dtype"}
)


def _hears_more(item: pytest.Item) -> bool:
    """Whether a check asks for a fixture through which a submission may speak beside it."""
    info = item._fixtureinfo  # type: ignore[attr-defined]
    met, names = set(_OWN_FIXTURES), [*info.argnames]
    while names:
        name = names.pop()
        if name in ("ahead", "grading", "request"):
            return True
        if name not in met:
            met.add(name)
            names += [
                each for found in info.name2fixturedefs.get(name, ()) for each in found.argnames
            ]
    return False


def _prepare(session: pytest.Session) -> None:
    asked = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    session.config.stash[GRADING].prepare(asked)


def facts_of(item: pytest.Item) -> Facts:
    """What a check says about itself; KitFault where it does not say it right."""
    assert isinstance(item, pytest.Function)
    name = item.originalname
    where = f"{item.path.parent.parent.name}/{item.path.parent.name}/{item.path.name}: {name}"
    markers = list(item.iter_markers("points"))
    if len(markers) != 1:
        raise KitFault(f"{where} must have one @pytest.mark.points(n, group=…)", name)
    marker = markers[0]
    points, group = marker.args[0] if len(marker.args) == 1 else None, marker.kwargs.get("group")
    if type(points) is not int or points < 1 or type(group) is not str:
        raise KitFault(f"{where}: points(n, group=…) takes a positive int and a group", name)
    title = (item.function.__doc__ or "").strip().partition("\n\n")[0]
    if not title:
        raise KitFault(f"{where} needs a docstring: the sentence a learner reads", name)
    if item.get_closest_marker("xfail") is not None:
        raise KitFault(f"{where}: xfail says nothing about a submission; remove it", name)
    hint = item.get_closest_marker("hint")
    return Facts(
        function=name,
        title=" ".join(title.split()),
        group=group,
        points=points,
        extra=bool(marker.kwargs.get("extra", False)),
        hint=hint.args[0] if hint else None,
        hidden=item.path.parent.parent.name == "solutions",
    )


# ---- what a check may ask for


@pytest.fixture(scope="session")
def grading(request: pytest.FixtureRequest) -> Grading:
    return request.config.stash[GRADING]


@pytest.fixture
def submission(request: pytest.FixtureRequest, grading: Grading) -> Iterator[Submission]:
    """The submission: call it, or give it cases to `check`."""
    own = _opened(request.node, grading)
    yield own
    own.end()
    if _wants_no_history(request.node):
        own.retire()


def _opened(item: pytest.Item, grading: Grading) -> Submission:
    """The submission where a check asks it, loaded; NotRun where it cannot be."""
    accelerator = _accelerator(item, grading)
    # The shared worker first: a file that cannot load is told once, for all checks.
    grading.submission.load_or_raise()
    if _wants_no_history(item):
        own = grading.open_submission(accelerator)
    else:
        own = grading.submission_on(accelerator)
    own.loads_elsewhere = True
    own.load_or_raise()
    own.begin(_key(item, grading))
    return own


def _wants_no_history(item: pytest.Item) -> bool:
    return item.get_closest_marker("fresh") is not None


@pytest.fixture
def reference(request: pytest.FixtureRequest, grading: Grading) -> Trusted:
    """The hidden reference, called like a submission; it never fails a check."""
    return grading.reference(_accelerator(request.node, grading))


def _accelerator(item: pytest.Item, grading: Grading) -> str:
    """ "sim" or "cuda" for a check that asks for an accelerator, "" for all others."""
    return grading.accelerator if "accelerator" in getattr(item, "fixturenames", ()) else ""


@pytest.fixture
def draws(grading: Grading) -> Helper:
    """What a generator gives next: `draws("name", …)` calls a function of draws.py."""
    return grading.draws


@pytest.fixture(scope="session")
def ahead(grading: Grading) -> Callable[..., Callable[[], Tally]]:
    """`ahead(times, *arguments)` begins what `submission.repeat` does, in a worker of its own.

    Called by a fixture of the session that is used by itself, it runs beside the other checks; what
    it returns waits for the Tally.
    """
    return lambda times, *args: grading.open_submission().begin_repeat(times, *args)


@pytest.fixture
def library(grading: Grading) -> str:
    """The library the submission is written in."""
    return grading.request.library


@pytest.fixture
def accelerator(grading: Grading) -> str:
    """The accelerator's device string; the check's submission runs where that device exists."""
    return f"{grading.accelerator}:0"


@pytest.fixture
def rng(request: pytest.FixtureRequest, grading: Grading) -> random.Random:
    """Random numbers for inputs: the same every time in a public check, secret in a hidden one."""
    made = random.Random(f"{_salt(request.node, grading)}:{request.node.name}")
    grading.watch(made)
    return made


def _key(item: pytest.Item, grading: Grading) -> Key:
    """What a check and its random inputs are known by."""
    return item.nodeid, _salt(item, grading)


def _salt(item: pytest.Item, grading: Grading) -> str:
    hidden = item.stash[_RECORD]["facts"]["hidden"]
    return str(grading.request.seed) if hidden else PUBLIC_SALT


# ---- running and recording


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    item.config.stash[GRADING].watch(None)
    with _judged(item):
        if item.stash[_RECORD]["facts"]["hidden"] and not _told_in_full(item.config):
            item.config.stash[GRADING].stop_telling()
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    with _judged(item):
        return (yield)


def _told_in_full(config: pytest.Config) -> bool:
    """Whether an author runs the checks by hand, and may see everything."""
    return config.stash.get(_TOLD_IN_FULL, False)


class _judged:
    """Turns what a check raises into pytest's outcomes, and records what scoring needs to know."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item

    def __enter__(self) -> None:
        self.item.config.stash[_COMPARED] = (Difference("", "", ""), "same")
        if isinstance(submission := self._submission(), Submission):
            submission.asked = None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        submission = self._submission()
        evidence = submission.evidence if isinstance(submission, Submission) else Evidence()
        if evidence.cases == 0:  # a check that compares by hand is one case
            told = error if isinstance(error, Mismatch) else None
            compared = self.item.config.stash[_COMPARED]
            evidence = Evidence(
                cases=1,
                passed=int(error is None),
                wrong=int(told.wrong if told else compared[1] == "different"),
                unlike=int(told.failure is not None if told else compared[1] == "unlike"),
            )
        self.item.stash[_RECORD]["evidence"] = asdict(evidence)
        if isinstance(submission, Submission):
            self.item.stash[_TALK] = None if _wants_no_history(self.item) else submission.talk()
        if error is None or isinstance(error, pytest.skip.Exception | KeyboardInterrupt):
            return
        record = self.item.stash[_RECORD]
        if isinstance(error, NotRun):
            record["load_failure"] = isinstance(error, NotLoaded)
            record["no_device"] = isinstance(error, NoDevice)
            raise pytest.skip.Exception(str(error)) from None
        if isinstance(error, Mismatch):
            told = error
        elif isinstance(error, AssertionError):
            told = self._from_assertion(error)
        elif isinstance(error, pytest.fail.Exception):
            told = Mismatch(error.msg or "", kind="a wrong answer")
        else:
            record["fault"] = _fault_text(error)
            return  # pytest shows it as the error it is
        record["result"] = {
            "message": told.message,
            "told": told.kind or "a wrong answer",
            "first": told.first,
            "failure": told.failure.kind if told.failure else None,
            "about": told.about,
        }
        hidden = record["facts"]["hidden"] and not _told_in_full(self.item.config)
        message = record["result"]["told"] if hidden else told.message
        raise pytest.fail.Exception(message, pytrace=False) from None

    def _submission(self) -> Any:
        return getattr(self.item, "funcargs", {}).get("submission")

    def _from_assertion(self, error: AssertionError) -> Mismatch:
        """A failed `assert` as a Mismatch, with the sentence of the comparison if it was ours."""
        difference, _ = self.item.config.stash[_COMPARED]
        text = difference.text or str(error).removeprefix("assert ")
        if difference.text and isinstance(submission := self._submission(), Submission):
            text = submission.told_call() + text
        kind = f"{difference.place}: wrong {difference.kind}" if difference.text else None
        return Mismatch(text, kind=kind, about=difference.about if difference.text else "values")


def _fault_text(error: BaseException) -> str:
    """A fault of the kit for those who keep it: the sentence of a KitFault, else the traceback."""
    if isinstance(error, GradeError):
        return str(error)
    lines = traceback.format_exception(error)
    return f"{type(error).__name__}: {error}\n{''.join(lines[-6:])}"


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Says a failed comparison with an expectation as its first difference."""
    if op != "==" or not isinstance(right, Expectation):
        return None
    difference = right.difference(left)
    if difference is None:
        return None
    config.stash[_COMPARED] = (difference, right.likeness(left))
    return [*difference.text.splitlines(), f"the answer was {show(left)}"]


@pytest.hookimpl(optionalhook=True)
def pytest_json_runtest_metadata(item: pytest.Item, call: pytest.CallInfo[None]) -> dict[str, Any]:
    """Hands the record of a check to the JSON report, once it has been called."""
    return item.stash[_RECORD] if call.when == "teardown" else {}
