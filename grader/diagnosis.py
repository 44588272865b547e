"""What a wrong submission looks like: its answers on a problem's diagnostic inputs, recognised.

A problem that has a `diagnosis.py` is diagnosed:

    def sittings(library, device, draws) -> list[Sitting]

`draws` is the fixture of that name, None for a problem without `draws.py`; `device` the
accelerator's name. A sitting is one message of questions; a new worker answers them all, and
another one those on the accelerator. What every known-wrong file answered stands in
`diagnosis.json` beside it (written by `grade dev diagnose`), as numbers and with the sentence a
learner should hear; it holds no right answer and no code. A submission that did the same on every
question is told that sentence. Where none did, it is told what its answers show by themselves:
right numbers in a wrong type, a side effect, nan, or one kind of input alone that goes wrong.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from grader import traces
from grader.dialogue import Dialogue
from grader.expect import Mismatch
from grader.faults import GradeError, KitFault
from grader.grading import Grading
from grader.memory import MOST_CAUSES, Told
from grader.problem import Problem
from grader.report import Cause, CheckResult
from grader.submission import Case, NotRun, Outcome, Submission
from grader.traces import Trace
from grader.values import EPS, Array, Generator, Value

FORMAT = 1

# How a submission ends that is told of by itself, and would cost its time here once more.
_ENDED = frozenset({"timeout", "memory", "crash", "died", "flood", "exit"})
LARGEST = 4096  # numbers of one answer; those to the questions here have 1,200 at most
_LEAST_SAME = 5  # so many wrong answers in common make a file known
_LEAST_KINDS = 3  # fewer kinds of input may have their dtype in common by chance
_LEAST_RIGHT = 10  # so many right answers before one wrong kind of input is called the only one


@dataclass(frozen=True, eq=False)
class Question:
    """One call. kind: what its input is an example of, such as "equal rows".

    draws: it may draw from PyTorch's default generator. named: a learner would know such an input;
    others are no kind that one could be told of.
    """

    kind: str
    case: Case
    draws: bool = False
    named: bool = True


@dataclass(frozen=True, eq=False)
class Sitting:
    """Questions asked one after another, in one message.

    private: answers are overwritten and watched for shared memory (`Submission.check`). reuse: the
    arguments are the same objects, refilled. device: where the accelerator is.
    """

    questions: tuple[Question, ...]
    private: bool = False
    reuse: bool = False
    device: bool = False


@dataclass(frozen=True)
class Answer:
    """A wrong answer as it is stored. like: its numbers are right, whatever carries them."""

    trace: Trace
    like: bool


@dataclass(frozen=True)
class Profile:
    """A known-wrong file as it is stored: for each question 0 where it was right, else which of the
    stored answers it gave, counted from 1. fails: the public checks it fails.
    """

    sentence: str
    hint: int | None
    fails: frozenset[str]
    row: tuple[int, ...]


@dataclass(frozen=True)
class Stored:
    """What `diagnosis.json` holds for one library. answers: the wrong ones, for each question."""

    digest: str
    answers: tuple[tuple[Answer, ...], ...]
    profiles: tuple[Profile, ...]


@dataclass(frozen=True, eq=False)
class Finding:
    """What a submission did with one question. trace: None where it was right.

    like: its numbers are right, whatever carries them.
    """

    question: Question
    outcome: Outcome
    trace: Trace | None
    like: bool

    @property
    def eps(self) -> float:
        return traces.eps_of(self.question.case)


Findings = Sequence[Finding | None]  # None: could not be asked here


def path_of(problem: Problem) -> Path:
    """Where the stored answers of a problem are."""
    return problem.folder / "diagnosis.json"


def explain(grading: Grading, results: Sequence[CheckResult], kinds: set[str]) -> Cause | None:
    """What the submission of a grading seems to do, or None where nothing can be said.

    results: its checks, with points lost. kinds: of the failures met in them (`Failure.kind`).
    """
    problem, library = grading.request.problem, grading.request.library
    missed = [check for check in results if not check.extra and check.outcome != "passed"]
    if not missed or kinds & _ENDED or not (problem.folder / "diagnosis.py").is_file():
        return None
    public = frozenset(c.id for c in results if not c.hidden and c.outcome != "passed")
    examination = _Examination(grading)
    if (told := examination.told_before(public)) is not None:
        return told.cause
    found = examination.findings()
    if found is None:
        return None
    cause = _recognised(load(problem).get(library), found, public)
    cause = cause or by_itself(found) or _remark(problem, found)
    examination.learn(public, cause)
    return cause


def examine(grading: Grading) -> list[Finding | None] | None:
    """Asks every question; None where the submission could not be asked to the end."""
    return _Examination(grading).findings()


class _Examination:
    """The questions to one submission. It answers in up to two workers: that of the sittings on an
    accelerator, and that of all others."""

    def __init__(self, grading: Grading) -> None:
        self._grading = grading
        self._memory = grading.memory
        self._asked: dict[bool, Submission] = {}  # by whether there is an accelerator

    def findings(self) -> list[Finding | None] | None:
        """What comes of every question; None where it could not be asked to the end."""
        sittings = self._sittings()
        self._open({each.device for each in sittings})
        found: list[Finding | None] = []
        for sitting in sittings:
            submission = self._asked[sitting.device]
            cases = [question.case for question in sitting.questions]
            observe = ["args", "globals", "generator", *(["private"] if sitting.private else [])]
            try:
                outcomes = submission.outcomes(cases, observe, reuse=sitting.reuse)
            except NotRun:
                if not sitting.device:
                    return None
                found += [None] * len(cases)
                continue
            except Mismatch:
                return None
            if any(out.failure is not None and out.failure.kind in _ENDED for out in outcomes):
                return None
            if any(_size(out.value) > LARGEST or _size(out.later) > LARGEST for out in outcomes):
                return None  # no answer to a question is so large, and comparing takes long
            found += map(_finding, sitting.questions, outcomes)
        self._close()
        return found

    # What is told follows from the answers, and from which checks were failed.

    def told_before(self, public: frozenset[str]) -> Told | None:
        """What was told of the same answers, to the byte, by a submission that failed the same
        public checks. None where that is not known: `findings` goes on from what was asked."""
        if self._memory is None or not self._memory.examined:
            return None
        self._open(self._memory.examined)
        ends = []
        for place, submission in self._asked.items():
            try:
                submission.load_or_raise()
            except (NotRun, Mismatch):  # which is met again
                return None
            end = submission.settle(self._memory.examined[place])
            if end is None:
                return None
            ends.append(end["heard"])
        told = self._memory.causes.get((public, *ends))
        if told is not None:
            self._close()
        return told

    def learn(self, public: frozenset[str], cause: Cause | None) -> None:
        """Remembers what is told of these answers."""
        memory, talks = self._memory, [each.talk(alone=False) for each in self._asked.values()]
        if memory is None or len(memory.causes) == MOST_CAUSES:
            return
        ends = [talk.last for talk in talks if talk is not None]
        if len(ends) < len(talks):
            return
        for place, talk in zip(self._asked, talks, strict=True):
            if talk is not None:
                memory.examined.setdefault(place, Dialogue()).learn(talk, {"heard": talk.last})
        memory.causes[(public, *ends)] = Told(cause)

    def _sittings(self) -> list[Sitting]:
        grading, problem = self._grading, self._grading.request.problem
        module = _module(problem)
        draws: Callable[..., Any] | None = grading.draws if problem.draws is not None else None
        with _blamed(problem):
            device = f"{grading.accelerator}:0"
            sittings = list(module.sittings(grading.request.library, device, draws))
            if not all(isinstance(each, Sitting) and each.questions for each in sittings):
                raise TypeError("sittings() must return Sittings with questions in them")
        if not sittings:
            raise KitFault(f"problems/{problem.slug}/diagnosis.py: sittings() returns none")
        return sittings

    def _open(self, places: Iterable[bool]) -> None:
        if self._asked:
            return
        for place in sorted(places):
            accelerator = self._grading.accelerator if place else ""
            self._asked[place] = self._grading.open_submission(accelerator)
        for place, submission in self._asked.items():
            submission.begin(("diagnosis", place))
            submission.prepare()  # they load the file side by side

    def _close(self) -> None:
        for submission in self._asked.values():
            submission.retire()


def _size(value: Value) -> int:
    """How many numbers and other items an answer holds, its own containers among them."""
    if isinstance(value, Array):
        return math.prod(value.shape)
    if isinstance(value, dict):
        return sum(map(_size, value.values())) + len(value)
    return 1 + sum(map(_size, value)) if isinstance(value, tuple | list) else 1


def _finding(question: Question, outcome: Outcome) -> Finding:
    case = question.case
    if question.draws:
        outcome = replace(outcome, moved=tuple(name for name in outcome.moved if name != "torch"))
    seen = traces.trace(case, outcome)
    if outcome.failure is not None:
        return Finding(question, outcome, seen, False)
    right = case.expects.difference(outcome.value) is None
    as_left = case.state_after is None or outcome.generator == case.state_after
    beside = seen.keys() - {"value", "state"}
    like = right or case.expects.likeness(outcome.value) == "same"
    if right and as_left and not beside:
        return Finding(question, outcome, None, True)
    return Finding(question, outcome, seen, like)


# ---- recognising


def _recognised(stored: Stored | None, found: Findings, public: frozenset[str]) -> Cause | None:
    if stored is None or len(stored.answers) != len(found):
        return None
    profile = recognise(stored, found, public)
    return None if profile is None else Cause(profile.sentence, profile.hint)


def recognise(stored: Stored, found: Findings, public: frozenset[str]) -> Profile | None:
    """The known-wrong file whose answers these are.

    First by whole answers. Where none fits, by their numbers alone, since a second mistake in the
    type of an answer does not hide the first; then by those that are numbers at all, since what one
    way to write a mistake divides by 0 another raises. Several that fit must have one sentence
    between them, or be told apart by the public checks they fail.
    """
    for fits in (_same_answers, _same_numbers, _same_where_defined):
        fitting = [profile for profile in stored.profiles if fits(profile, stored, found)]
        if len({profile.sentence for profile in fitting}) > 1:
            fitting = [profile for profile in fitting if profile.fails == public]
        if len({profile.sentence for profile in fitting}) == 1:
            return fitting[0]
        if fitting:
            return None
    return None


def _same_answers(profile: Profile, stored: Stored, found: Findings) -> bool:
    return all(
        finding is None
        or (
            finding.trace is None
            if place == 0
            else finding.trace is not None
            and traces.alike(answers[place - 1].trace, finding.trace, finding.eps)
        )
        for place, answers, finding in zip(profile.row, stored.answers, found, strict=True)
    )


def _same_numbers(profile: Profile, stored: Stored, found: Findings) -> bool:
    """Whether the numbers are those of the file, and not all of them are right."""
    wrong = False
    for place, answers, finding in zip(profile.row, stored.answers, found, strict=True):
        if finding is None:
            continue
        if place == 0:
            if not finding.like:
                return False
            continue
        answer = answers[place - 1]
        if finding.trace is None or finding.like:
            if not answer.like:
                return False
            continue
        if not traces.same_numbers(answer.trace, finding.trace, finding.eps):
            return False
        wrong = True
    return wrong


def _same_where_defined(profile: Profile, stored: Stored, found: Findings) -> bool:
    """Whether the answers are those of the file wherever both have some, a third or more."""
    same = wrong = 0
    for place, answers, finding in zip(profile.row, stored.answers, found, strict=True):
        if finding is None:
            continue
        answer = answers[place - 1].trace if place else None
        wrong += finding.trace is not None
        undefined = _is_undefined(answer) or _is_undefined(finding.trace)
        if undefined or _goes_on(finding.question.case):
            continue
        if answer is None or finding.trace is None:
            if answer is not finding.trace:
                return False
        elif not traces.alike(answer, finding.trace, finding.eps):
            return False
        else:
            same += 1
    return same >= _LEAST_SAME and 3 * same >= wrong


def _goes_on(case: Case) -> bool:
    """Whether the random numbers of a call depend on the calls before it."""
    given = (*case.args, *case.kwargs.values())
    return case.continues or any(isinstance(v, Generator) and v.shared for v in given)


def _is_undefined(answer: Trace | None) -> bool:
    return answer is not None and ("raised" in answer or traces.has_nan(answer))


# ---- what the answers show by themselves


def by_itself(found: Findings) -> Cause | None:
    """What can be said of wrong answers without knowing any other wrong file."""
    asked = [finding for finding in found if finding is not None]
    wrong = [finding for finding in asked if finding.trace is not None]
    if not wrong:
        return None
    kinds = list(dict.fromkeys(finding.question.kind for finding in wrong))
    where = "" if len(kinds) > 3 else f" (seen with {', '.join(kinds)})"
    if all(finding.like for finding in wrong):
        sentence = _form(wrong) or _side_effect(wrong)
        return Cause(f"{sentence}{where}.") if sentence else None
    if all(traces.has_nan(finding.trace or {}) for finding in wrong):
        return Cause(f"Your answer is nan, as 0/0 or the logarithm of -1 is{where}.")
    if len(asked) - len(wrong) < _LEAST_RIGHT or not all(f.question.named for f in wrong):
        return None
    if len(kinds) == 1 and len({finding.question.kind for finding in asked}) > 2:
        return Cause(f"You are right with every kind of input that was tried but one: {kinds[0]}.")
    dtypes = {_dtype(finding) for finding in wrong}
    right = {f.question.kind for f in asked if f.trace is None and _dtype(f) not in dtypes}
    # What is asked in one dtype alone does not tell a dtype from anything else.
    if len(dtypes) == 1 and right.issuperset(kinds) and len(kinds) >= _LEAST_KINDS:
        return Cause(f"You are right with every dtype that was tried but one: {dtypes.pop()}.")
    return None


def _dtype(finding: Finding) -> str:
    """The dtype of the first floating array of a call."""
    given = finding.question.case.args
    return next((a.dtype for a in given if isinstance(a, Array) and a.dtype in EPS), "none")


def _form(wrong: Sequence[Finding]) -> str | None:
    """All numbers are right, and what carries them is not."""
    differences = [f.question.case.expects.difference(f.outcome.value) for f in wrong]
    first = next((difference for difference in differences if difference is not None), None)
    if first is None or any(d is None or d.about != "form" for d in differences):
        return None
    what = f"{first.place} has the wrong {first.kind}"
    return f"Your numbers are right, and what carries them is not: {what}"


_EFFECTS = {
    "args": "Your answers are right, but an argument is changed on the way",
    "shares": "Your answers are right, but they share memory with an argument",
    "filled": "Your answers are right, but they share memory with an argument",
    "twins": "Your answers are right, but those of two calls share memory",
    "later": "Your answers are right, but a later call changes an earlier one",
    "moved": "Your answers are right, but a global random generator is drawn from or seeded",
}


def _side_effect(wrong: Sequence[Finding]) -> str | None:
    """All answers are right, and something happened beside them: the same in every case."""
    beside = [(finding.trace or {}).keys() & _EFFECTS.keys() for finding in wrong]
    if all(beside):
        common = set[str].intersection(*map(set, beside))
        return next((text for key, text in _EFFECTS.items() if key in common), None)
    if not any(beside) and all("state" in (finding.trace or {}) for finding in wrong):
        return "Your answers are right, but more, fewer or other random numbers are drawn for them"
    return None


def _remark(problem: Problem, found: Findings) -> Cause | None:
    """What the problem's own `remark(findings)` says of them, if it has one."""
    remark = getattr(_module(problem), "remark", None)
    with _blamed(problem):
        sentence = remark(found) if remark is not None else None
    return Cause(sentence) if sentence else None


# ---- the problem's files


def _module(problem: Problem) -> Any:
    with _blamed(problem):
        return importlib.import_module(f"problems.{problem.slug}.diagnosis")


@contextlib.contextmanager
def _blamed(problem: Problem) -> Iterator[None]:
    """Turns whatever goes wrong in a problem's diagnosis.py into a KitFault that names it."""
    try:
        yield
    except (GradeError, NotRun):
        raise
    except Exception as error:
        raise KitFault(
            f"problems/{problem.slug}/diagnosis.py: {type(error).__name__}: {error}"
        ) from error


def load(problem: Problem) -> dict[str, Stored]:
    """The stored answers by library; none where there is no file. KitFault if it is broken."""
    path = path_of(problem)
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else {}


@cache
def _read(path: Path, _changed: int) -> dict[str, Stored]:
    where = f"problems/{path.parent.name}/{path.name}"
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r}")
        if document["contents"] != contents_digest(text):
            raise ValueError("it was changed by hand")
        return {name: _stored(entry) for name, entry in document["libraries"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise KitFault(
            f"{where}: cannot be read ({error}); write it anew: grade dev diagnose "
            f"{path.parent.name}"
        ) from None


def contents_digest(text: str) -> str:
    """What a diagnosis.json stores, by content: one that was changed by hand is told."""
    stored = text.partition(' "libraries": ')[2]
    return hashlib.sha256(stored.encode()).hexdigest()


def _answer(entry: dict[str, Any]) -> Answer:
    return Answer({key: value for key, value in entry.items() if key != "like"}, "like" in entry)


def _stored(entry: dict[str, Any]) -> Stored:
    table = [_answer(each) for each in entry["traces"]]
    return Stored(
        digest=entry["digest"],
        answers=tuple(tuple(table[i] for i in places) for places in entry["answers"]),
        profiles=tuple(
            Profile(
                sentence=profile["sentence"],
                hint=profile["hint"],
                fails=frozenset(profile["fails"]),
                row=tuple(profile["row"]),
            )
            for profile in entry["known"]
        ),
    )
