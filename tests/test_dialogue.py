"""A check that hears what was heard before is not run again, and nobody can tell."""

from __future__ import annotations

import gc
import itertools
import random
import textwrap
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

import pytest

from grader import checkrun, kit, session, submission_file
from grader.desk import Desk
from grader.dialogue import MOST_ENDS, NOTHING, Dialogue, Talk, heard
from grader.faults import KitFault
from grader.grading import Grading, Request
from grader.lanes import Job
from grader.memory import MOST_CAUSES, Memory, Message
from grader.report import FaultReport, Report
from grader.workers import Forked, Launcher
from tests import kits

RIGHT = kits.RIGHT
WRONG = "def plus_one(number):\n    return number + 2\n"
HEAD = """\
import pathlib

import pytest

from grader.expect import exactly
from grader.submission import Case, Mismatch
from grader.values import array

LOG = pathlib.Path(__file__).with_name("log")


def log(word):
    with LOG.open("a") as file:
        file.write(word + "\\n")
"""
# Two gradings of one file are to be told alike however busy the machine is.
PATIENT = kits.TOML.replace("call = 1\n", "call = 20\n").replace(
    "submission = 10", "submission = 90"
)
# A desk runs the check that finds the file not loaded yet, in any case.
FIRST = '''\
@pytest.mark.points(1, group="contract", extra=True)
def test_first(submission):
    """One follows nothing."""
    assert submission(0) == exactly(1)
'''
ASKS_TWICE = '''\
@pytest.mark.points(7, group="values")
def test_next(submission):
    """Every number has a next one."""
    log("run")
    assert submission(1) == exactly(2)
    assert submission(2) == exactly(3)
'''


def that(text: str) -> str:
    """A submission that returns this expression of `number`."""
    return f"import numpy\nimport torch\n\n\ndef plus_one(number):\n    return {text}\n"


def checks(*bodies: str) -> str:
    """A check file."""
    return "\n\n".join([HEAD, *map(textwrap.dedent, bodies)])


def told(report: Report | FaultReport) -> dict[str, Any]:
    """A report without what differs from run to run."""
    if isinstance(report, FaultReport):
        return {"fault": report.message.partition("\n")[0]}
    return kits.told(report)


def written(tiny: kits.TinyKit) -> list[str]:
    """What the checks have logged since this was asked last."""
    log = tiny.checks.with_name("log")
    lines = log.read_text(encoding="utf-8").split() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


class Judges:
    """The two ways to judge a submission: at a desk, after others, and alone."""

    def __init__(self, tiny: kits.TinyKit, folder: Path, started: Launcher) -> None:
        self.tiny = tiny
        self._file = folder / "next.py"
        self._started = started
        self._asker, self._unused = Pipe()
        self._desk: Desk | None = None
        self._alone: dict[tuple[str, int], dict[str, Any]] = {}

    def at_the_desk(self, text: str, seed: int = 1) -> dict[str, Any]:
        """What the desk tells; it is made for the first seed."""
        job = Job(self.tiny.slug, self._source(text), "torch", seed)
        if self._desk is None:
            self._desk = Desk(kit.find(self.tiny.root), job, self._started, self._asker)
        answer = self._desk.grade(job)
        assert isinstance(answer, Report | FaultReport)
        return told(answer)

    def alone(self, text: str, seed: int = 1) -> dict[str, Any]:
        """What is told of it where nothing else was graded."""
        if (text, seed) not in self._alone:
            self._source(text)
            try:
                found = told(self.tiny.grade(self._file, self._started, seed=seed))
            except KitFault as error:
                found = {"fault": str(error).partition("\n")[0]}
            self._alone[text, seed] = found
        return self._alone[text, seed]

    def agree(self, texts: Sequence[str], seed: int = 1) -> None:
        """Fails unless the desk tells of each what is told of it alone."""
        for place, text in enumerate(texts):
            told_here = (place, text, self.at_the_desk(text, seed))
            assert told_here == (place, text, self.alone(text, seed))

    def forget(self) -> None:
        """The next submission is the first at a new desk."""
        if self._desk is not None:
            self._desk.close()
        self._desk = None

    def _source(self, text: str) -> submission_file.SubmissionSource:
        self._file.write_text(text, encoding="utf-8")
        return submission_file.read(self._file)


@pytest.fixture(name="started", scope="module")
def _started() -> Iterator[Forked]:
    made = Forked()
    made.isolation()
    made.versions()  # known before a desk is forked, as a lane does it
    yield made
    made.close()
    gc.unfreeze()  # what a desk had frozen


Open = Callable[..., Judges]


@pytest.fixture(name="judges")
def _judges(started: Forked, tmp_path: Path) -> Iterator[Open]:
    """Judges of a kit with these checks."""
    opened: list[Judges] = []

    def judges(*bodies: str, toml: str = PATIENT, hidden: str | None = None) -> Judges:
        text = None if hidden is None else checks(hidden)
        toml = toml.replace("extra = 0", "extra = 1")
        tiny = kits.write_kit(
            tmp_path / "kit", checks=checks(FIRST, *bodies), toml=toml, hidden=text, solution=RIGHT
        )
        opened.append(Judges(tiny, tmp_path, started))
        return opened[-1]

    yield judges
    for each in opened:
        each.forget()


def in_this_process(
    tiny: kits.TinyKit, started: Launcher, jobs: Sequence[tuple[str, int]], folder: Path
) -> tuple[Memory, list[dict[str, Any]], list[int]]:
    """What a desk remembers after these texts with their seeds, what it tells of each, and how many
    workers each got. The desk is this process, and is made for the first seed."""
    memory, reports, counts = Memory(), [], []
    file = folder / "next.py"
    workers = itertools.count()
    begin = started.start

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(started, name)

        def start(self) -> Any:
            next(workers)
            return begin()

    counting: Any = Counting()

    def request(text: str, seed: int) -> Request:
        hidden = tiny.problem.hidden is not None
        return Request(
            kit.find(tiny.root), tiny.problem, text.encode(), "torch", "cpu", seed, hidden
        )

    def serve(run: checkrun.Run) -> None:
        first = request(*jobs[0])
        apart = started.isolation()
        session.prove(first, started, apart, memory, run)
        memory.close()
        for text, seed in jobs:
            file.write_text(text, encoding="utf-8")
            before = next(workers)
            with Grading(request(text, seed), counting, memory) as grading:
                report = session.judged(
                    grading, submission_file.read(file), run(grading), apart, session.Began.now()
                )
            counts.append(next(workers) - before - 1)
            reports.append(told(report))

    checkrun.park(Grading(request(*jobs[0]), started), serve)
    return memory, reports, counts


# ---- what was heard, and what is known of a check


def chain(replies: Sequence[tuple[bytes, bytes]]) -> bytes:
    """What stands for these replies, heard one after another."""
    so_far = NOTHING
    for text, payload in replies:
        so_far = heard(so_far, text, memoryview(payload))
    return so_far


def message(name: bytes, replies: int = 1) -> Message:
    return Message([None] * replies, (), name, b"")  # type: ignore[list-item]


def talk(*steps: tuple[Message, list[bytes]]) -> Talk:
    """A talk in which each message got these replies, without payloads."""
    made = Talk()
    for asked, replies in steps:
        made.ask(asked)
        for text in replies:
            made.hear(text, memoryview(b""))
    return made


def test_replies_are_told_apart_by_their_order():
    """The same replies in another order are something else."""
    orders = list(itertools.permutations([(b"1", b""), (b"2", b""), (b"", b"3")]))
    assert len({chain(order) for order in orders}) == len(orders)


def test_replies_are_told_apart_by_how_often_they_came():
    """A reply that comes once more is something else, an empty one too."""
    assert len({chain([(b"", b"")] * times) for times in range(5)}) == 5


def test_no_two_ways_to_split_bytes_are_alike():
    """Which bytes are header and which payload, and which belong to which reply, is all told."""
    data = b"\x01\x00\x00\x00aa\x00\x00"
    ways = []
    for first, second, third in itertools.combinations_with_replacement(range(len(data) + 1), 3):
        ways.append([(data[:first], data[first:second]), (data[second:third], data[third:])])
    ways += [[(data[:at], data[at:])] for at in range(len(data) + 1)]
    assert len({chain(way) for way in ways}) == len(ways)


def test_a_talk_hears_as_a_chain():
    """What a talk has heard at last is the chain of all replies, whichever message they answer."""
    one = talk((message(b"a", 2), [b"1", b"2"]), (message(b"b"), [b"3"]))
    other = talk((message(b"a"), [b"1"]), (message(b"b", 2), [b"2", b"3"]))
    assert one.last == other.last == chain([(b"1", b""), (b"2", b""), (b"3", b"")])
    assert [len(replies) for _, replies in one.steps] == [2, 1]


def test_nothing_is_known_of_a_new_check():
    """Neither a question nor an end nor a reply."""
    known = Dialogue()
    assert known.asks(NOTHING) is None
    assert known.end(NOTHING) is None
    assert not known.has_seen(chain([(b"1", b"")]))


def test_a_dialogue_is_followed_reply_by_reply():
    """After each message comes the next one, and the end stands after the last reply alone."""
    first, second = message(b"a", 2), message(b"b")
    known = Dialogue()
    known.learn(talk((first, [b"1", b"2"]), (second, [b"3"])), {"outcome": "passed"})

    places = [chain([(text, b"") for text in (b"1", b"2", b"3")[:n]]) for n in range(4)]
    assert [known.asks(place) for place in places] == [first, None, second, None]
    assert [known.has_seen(place) for place in places] == [False, True, True, True]
    assert [known.end(place) for place in places] == [None, None, None, {"outcome": "passed"}]


def test_what_is_asked_next_follows_from_the_reply():
    """Two ways that part after a reply are both known, and so are both of their ends."""
    first, kept, other = message(b"a"), message(b"b"), message(b"c")
    known = Dialogue()
    known.learn(talk((first, [b"1"]), (kept, [b"3"])), {"end": 1})
    known.learn(talk((first, [b"2"]), (other, [b"3"])), {"end": 2})

    assert known.asks(NOTHING) is first
    assert known.asks(chain([(b"1", b"")])) is kept
    assert known.asks(chain([(b"2", b"")])) is other
    assert known.end(chain([(b"1", b""), (b"3", b"")])) == {"end": 1}
    assert known.end(chain([(b"2", b""), (b"3", b"")])) == {"end": 2}


def test_a_reply_to_another_message_was_not_heard():
    """A reply that came in another place, or after other replies, is new."""
    known = Dialogue()
    known.learn(talk((message(b"a"), [b"1"]), (message(b"b"), [b"2"])), {})
    assert not known.has_seen(chain([(b"2", b"")]))
    assert not known.has_seen(chain([(b"1", b""), (b"1", b"")]))


def test_no_more_than_a_few_ends_are_known_of_a_check():
    """Once there are so many, neither an end nor a question nor a reply is added."""
    known = Dialogue()
    for number in range(MOST_ENDS + 3):
        reply = b"%d" % number
        known.learn(talk((message(b"a"), [reply]), (message(reply), [b"end"])), {"end": number})

    replies = [chain([(b"%d" % number, b"")]) for number in range(MOST_ENDS + 3)]
    ends = [heard(reply, b"end", memoryview(b"")) for reply in replies]
    kept = [True] * MOST_ENDS + [False] * 3
    assert [known.has_seen(reply) for reply in replies] == kept
    assert [known.asks(reply) is not None for reply in replies] == kept
    assert [known.end(end) is not None for end in ends] == kept


# ---- when a check is run


def test_a_check_that_hears_the_same_is_not_run_again(judges):
    """Its body runs for the reference and for the first that answers otherwise, and no more."""
    desk = judges(ASKS_TWICE)
    runs = []
    for text in (RIGHT, WRONG, that("number + 1"), that("2 + number"), RIGHT, WRONG):
        desk.at_the_desk(text)
        runs.append(len(written(desk.tiny)))
    assert runs == [1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "text",
    [
        that("number + 1.0"),
        that("number + 1 + (number == 2)"),
        that("number + 1 - (number == 1)"),
        that("numpy.int64(number + 1)"),
        that("torch.tensor(number + 1)"),
        that("(number + 1, 1 / (2 - number))[0]"),
    ],
    ids=["a type", "the last", "the first", "a NumPy scalar", "an array", "an exception"],
)
def test_a_check_is_run_where_one_reply_differs(judges, text):
    """Whatever differs, and wherever: it is judged by itself, and then known as well."""
    desk = judges(ASKS_TWICE)
    desk.at_the_desk(RIGHT)
    written(desk.tiny)
    assert desk.at_the_desk(text) == desk.at_the_desk(text) == desk.alone(text)
    assert len(written(desk.tiny)) == 2  # once at the desk, and once alone


def test_every_check_is_settled_by_itself(judges):
    """A submission that fails one check as nobody before runs that one check."""
    desk = judges(
        *(
            f'''
            @pytest.mark.points({points}, group="values")
            def test_{number}(submission):
                """The number after {number}."""
                log("{number}")
                assert submission({number}) == exactly({number} + 1)
            '''
            for number, points in ((1, 4), (2, 2), (3, 1))
        )
    )
    desk.at_the_desk(RIGHT)
    assert written(desk.tiny) == ["1", "2", "3"]
    desk.at_the_desk(that("number + 1 + (number == 2)"))
    assert written(desk.tiny) == ["2"]
    assert desk.at_the_desk(that("number + 1 + (number == 3)"))["score"] == 6
    assert written(desk.tiny) == ["3"]


# ---- told as alone

QUESTIONS = '''\
from grader.diagnosis import Question, Sitting
from grader.expect import exactly
from grader.submission import Case


def sittings(library, device, draws):
    """Small numbers, large ones, and small ones once more."""
    small = [Question("small numbers", Case((n,), exactly(n + 1))) for n in range(6)]
    large = [Question("large numbers", Case((n,), exactly(n + 1))) for n in range(900, 906)]
    return [Sitting((*small, *large)), Sitting(tuple(small), private=True)]


def remark(findings):
    wrong = sum(each is not None and each.trace is not None for each in findings)
    return f"{wrong} answers are wrong." if wrong else None
'''
ANY_NUMBER = '''\
@pytest.mark.points(3, group="values")
def test_any_number(submission, reference, rng):
    """One more than any number follows it."""

    def cases():
        numbers = [rng.randrange(10**6) for _ in range(5)]
        return [Case((n,), exactly(reference(n))) for n in numbers]

    submission.check(cases)
    number = rng.randrange(100)
    assert submission(number) == exactly(number + 1)
'''
WITH_HIDDEN = PATIENT.replace("hidden = 0", "hidden = 3")


def test_a_wrong_file_is_told_alike_every_time(judges):
    """Messages, evidence, outcomes, points and likely cause are those of a grading alone."""
    desk = judges(
        '''
        @pytest.mark.points(4, group="values")
        def test_by_hand(submission):
            """Two numbers, one after the other."""
            assert submission(1) == exactly(2)
            assert submission(2) == exactly(3)


        @pytest.mark.points(3, group="values")
        @pytest.mark.hint("Add one.")
        def test_many(submission, rng):
            """Many numbers have a next one."""
            submission.check(lambda: [Case((n,), exactly(n + 1), note=f"{n}") for n in range(8)])
            submission.check([Case((n,), exactly(n + 1)) for n in (rng.randrange(50), 900)])
        ''',
        toml=WITH_HIDDEN,
        hidden=ANY_NUMBER,
    )
    (desk.tiny.checks.parent / "diagnosis.py").write_text(QUESTIONS, encoding="utf-8")
    texts = [
        RIGHT,
        that("number + 2"),
        that("number + 1 + (number >= 900)"),
        that("number + 1 + (number == 2)"),
        that("number + 1.0"),
        that("torch.tensor(number + 1)"),
        that("print(number) or number + 1 + (number == 3)"),
        that("1 / 0"),
        that("number + 1 if number < 800 else [0] * 10**6"),
        "def plus_one(number:\n",
    ]
    order = texts * 3
    random.Random(4).shuffle(order)
    desk.agree(order)
    assert desk.alone(texts[2])["likely_cause"] is not None


def test_a_cause_is_looked_for_once_in_what_was_asked(judges):
    """Where answers are known to the byte and the failed checks differ, they are read again and not
    asked again: a submission that changes its mind after them is told as alone."""
    desk = judges(
        '''
        @pytest.mark.points(4, group="values")
        def test_early(submission):
            """Every number has a next one."""
            submission.check(lambda: [Case((n,), exactly(n + 1)) for n in range(20)])


        @pytest.mark.points(3, group="values")
        def test_late(submission):
            """Two follows one."""
            assert submission(1) == exactly(2)
        '''
    )
    (desk.tiny.checks.parent / "diagnosis.py").write_text(QUESTIONS, encoding="utf-8")
    # As many as there are questions.
    counted = "calls = []\n\n\ndef plus_one(number):\n    calls.append(1)\n"
    later = counted + "    return number + 1 + (len(calls) <= 18)\n"
    desk.agree([WRONG, later, WRONG, later])
    assert desk.alone(later)["likely_cause"] is not None


def test_every_seed_is_told_as_alone(judges):
    """Seeds that come and go, other than the one a desk is made for, are judged by themselves."""
    desk = judges(
        '''
        @pytest.mark.points(7, group="values")
        def test_by_hand(submission):
            """Two follows one."""
            assert submission(1) == exactly(2)
        ''',
        toml=WITH_HIDDEN,
        hidden=ANY_NUMBER,
    )
    texts = [RIGHT, that("print(number) or number + 1 + number % 2"), that("number + 3")]
    order = [(text, seed) for text in texts for seed in (1, 2, 3)] * 2
    random.Random(2).shuffle(order)
    for text, seed in [(RIGHT, 1), *order]:
        desk.agree([text], seed)


ADAPTIVE = {
    "calls by hand": '''
        @pytest.mark.points(7, group="values")
        def test_next(submission):
            """What is asked next is what was answered."""
            number = 1
            for _ in range(5):
                answer = submission(number)
                assert answer == exactly(number + 1) or number > 3
                number = answer % 5 if type(answer) is int else 4
        ''',
    "checks of many cases": '''
        @pytest.mark.points(7, group="values")
        def test_next(submission):
            """The harder cases are asked where the easy ones are right."""
            try:
                submission.check([Case((n,), exactly(n + 1)) for n in (1, 2)])
            except Mismatch:
                submission.check([Case((n,), exactly(n + 1)) for n in (3, 4)], unchanged=True)
                submission.check([Case((n,), exactly(n + 1)) for n in (5,)])
                raise
            submission.check([Case((n,), exactly(n + 1)) for n in (6, 7, 8)], private=True)
        ''',
    "checks whose cases are made": '''
        @pytest.mark.points(7, group="values")
        def test_next(submission):
            """The harder cases are asked where the easy ones are right."""
            if submission(1) == 2:
                submission.check(lambda: [Case((n,), exactly(n + 1)) for n in (2, 3)])
            else:
                submission.check(lambda: [Case((n,), exactly(n + 1)) for n in (4, 5)])
                raise Mismatch("two follows one")
        ''',
}


@pytest.mark.parametrize("kind", ADAPTIVE)
def test_a_check_that_asks_by_the_answers_is_judged_in_any_order(judges, kind):
    """What a check asks next may depend on what it was told, by whichever way it asks."""
    desk = judges(ADAPTIVE[kind])
    texts = [
        RIGHT,
        that("number + 1 + (number == 1)"),
        that("number + 1 + 2 * (number in (1, 4))"),
        that("number + 1 + (number == 7)"),
    ]
    for order in itertools.islice(itertools.permutations(texts), 0, None, 5):
        desk.forget()
        desk.agree([*order, *reversed(order)])


def test_answers_at_random_places_are_judged_in_any_order(judges):
    """Tables of answers that part in many places are all told as alone."""
    desk = judges(ADAPTIVE["calls by hand"])
    dice = random.Random(11)
    tables = [{n: n + 1 + dice.choice([0, 0, 1, 2]) for n in range(8)} for _ in range(14)]
    texts = [that(f"{table}[number]") for table in tables]
    desk.agree([dice.choice(texts) for _ in range(40)])


KINDS = {
    "answers of two messages": '''
        @pytest.mark.points(7, group="values")
        def test_same(submission):
            """The same call gives the same answer, also later."""
            cases = [Case((n,), exactly(n + 1)) for n in (1, 2, 3)]
            first = submission.answers(cases)
            second = submission.answers(cases)
            if first != second:
                raise Mismatch(f"{first} at first, then {second}")
            assert submission(first[0]) == exactly(first[0] + 1)
        ''',
    "outcomes by hand": '''
        @pytest.mark.points(7, group="values")
        def test_outcomes(submission):
            """No call fails, and the global generators stay."""
            outcomes = submission.outcomes([Case((n,), exactly(0)) for n in (1, 2)], ("globals",))
            for outcome in outcomes:
                assert outcome.failure is None
                assert outcome.moved == ()
            assert [outcome.value for outcome in outcomes] == [2, 3]
        ''',
    "private, reuse and unchanged": '''
        @pytest.mark.points(4, group="values")
        def test_private(submission):
            """Answers have memory of their own."""
            rows = [array([float(n), 1.0]) for n in (1, 2, 3)]
            cases = [Case((row,), exactly(array([n + 2.0, 2.0]))) for n, row in enumerate(rows)]
            submission.check(cases, private=True)
            submission.check(lambda: cases, private=True, unchanged=True)


        @pytest.mark.points(3, group="values")
        def test_reuse(submission):
            """Arguments may be refilled."""
            rows = [array([float(n), 1.0]) for n in (1, 2, 3)]
            cases = [Case((row,), exactly(array([n + 2.0, 2.0]))) for n, row in enumerate(rows)]
            submission.check(cases, reuse=True)
            submission.check(lambda: cases, reuse=True, globals_untouched=True)
        ''',
    "fresh": '''
        @pytest.mark.points(2, group="values")
        def test_shared(submission):
            """In the worker that all share."""
            assert submission(1) == exactly(2)


        @pytest.mark.points(3, group="values")
        @pytest.mark.fresh
        def test_fresh(submission):
            """In a worker of its own."""
            assert submission(1) == exactly(2)
            submission.check(lambda: [Case((2,), exactly(3))])


        @pytest.mark.points(2, group="values")
        def test_shared_again(submission):
            """In the worker that all share, once more."""
            assert submission(2) == exactly(3)
        ''',
    "parametrised": '''
        @pytest.mark.points(4, group="values")
        @pytest.mark.parametrize("number", [1, 2, 3])
        def test_each(submission, number):
            """Each number has a next one."""
            assert submission(number) == exactly(number + 1)


        @pytest.mark.points(3, group="values")
        @pytest.mark.parametrize("number", [1, 2])
        @pytest.mark.parametrize("of", ["a list", "a function"])
        def test_both(submission, number, of):
            """Each number has a next one."""
            cases = [Case((n,), exactly(n + 1)) for n in (number, 5)]
            submission.check(cases if of == "a list" else lambda: cases)
        ''',
    "on an accelerator": '''
        @pytest.mark.points(4, group="device")
        def test_there(submission, accelerator):
            """Answers are where the arguments are."""
            row = array([1.0, 2.0], device=accelerator)
            for private in (True, False):
                expected = exactly(array([2.0, 3.0], device=accelerator))
                submission.check([Case((row,), expected)] * 2, private=private)


        @pytest.mark.points(3, group="values")
        def test_here(submission):
            """And here too."""
            assert submission(array([1.0, 2.0])) == exactly(array([2.0, 3.0]))
        ''',
}  # fmt: skip
KEEPS = "KEPT = {}\n\n\ndef plus_one(number):\n    "
SUBMISSIONS = [
    RIGHT,
    that("number + 2"),
    that("number + 1 + (torch.is_tensor(number) and bool(number.sum() == 3))"),
    that("number + 1 if not torch.is_tensor(number) else (number + 1).cpu()"),
    that("number.add_(1) if torch.is_tensor(number) else number + 1"),
    that("(torch.rand(1), number + 1)[1]"),
    that("number + float(torch.rand(1))"),
    KEEPS + "return KEPT.setdefault(str(number), number + 1)\n",
    KEEPS + "KEPT[len(KEPT)] = number\n    return number + 1 + (len(KEPT) > 4)\n",
    KEEPS + "return KEPT.setdefault(id(number), number + 1)\n",
    "import os\n\n\ndef plus_one(number):\n"
    "    if getattr(number, 'ndim', 0) == 0 and number == 2:\n        os._exit(1)\n"
    "    return number + 1\n",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_check_is_told_as_alone(judges, kind):
    """However a check asks and compares, and whatever a submission keeps from call to call."""
    desk = judges(KINDS[kind])
    order = [*SUBMISSIONS, *SUBMISSIONS]
    random.Random(kind).shuffle(order)
    desk.agree(order)


def test_what_a_submission_keeps_is_judged_where_it_shows(judges):
    """A submission that turns wrong after so many calls is told the check where it does."""
    desk = judges(
        *(
            f'''
            @pytest.mark.points({points}, group="values")
            def test_{number}(submission):
                """Two numbers have a next one."""
                submission.check(lambda: [Case((n,), exactly(n + 1)) for n in ({number}, 9)])
            '''
            for number, points in ((1, 4), (2, 2), (3, 1))
        )
    )
    counting = "CALLS = []\n\n\ndef plus_one(number):\n    CALLS.append(number)\n"
    counting += "    return number + 1 + (len(CALLS) > {})\n"
    order = [counting.format(calls) for calls in range(7)] * 2
    random.Random(3).shuffle(order)
    desk.agree(order)


def test_answers_at_random_are_judged_as_they_are_now(judges):
    """A submission that never answers twice alike is told what it has answered this time."""
    desk = judges(
        '''
        @pytest.mark.points(7, group="values")
        def test_next(submission):
            """Two follows one."""
            assert submission(1) == exactly(2)
        '''
    )
    lucky = "import time\n\n\ndef plus_one(number):\n    answer = {}\n    print(answer)\n"
    lucky += "    return answer\n"
    desk.at_the_desk(RIGHT)
    seen = set()
    for _ in range(12):
        found = desk.at_the_desk(lucky.format("number + 1 + (time.time_ns() // 1000) % 2"))
        answer = int(found["output"]["text"].split()[-1])
        assert found["score"] == (7 if answer == 2 else 0)
        seen.add(answer)
    for _ in range(4):
        found = desk.at_the_desk(lucky.format("time.time_ns()"))
        answer = int(found["output"]["text"].split()[-1])
        assert found["checks"][1]["message"].endswith(f"expected 2, got {answer}")
        seen.add(answer)
    assert len(seen) >= 5


# ---- what is no reply is not remembered

ENDS_ITSELF = '''
    @pytest.mark.points(3, group="values")
    def test_by_hand(submission):
        """Three numbers, one after another."""
        for number in (1, 2, 3):
            assert submission(number) == exactly(number + 1)


    @pytest.mark.points(2, group="values")
    def test_many(submission):
        """Three numbers in one message."""
        submission.check(lambda: [Case((n,), exactly(n + 1)) for n in (1, 2, 3)])


    @pytest.mark.points(1, group="values")
    def test_private(submission):
        """Three numbers, and what is left of them."""
        submission.check([Case((n,), exactly(n + 1)) for n in (1, 2, 3)], private=True)


    @pytest.mark.points(1, group="values")
    def test_caught(submission):
        """Where there is no answer, another is asked for."""
        try:
            submission(2)
        except Mismatch:
            assert submission(5) == exactly(6)
            raise
        assert submission(4) == exactly(5)
'''  # fmt: skip
ENDS = {
    "leaves": "os._exit(3)",
    "is killed": "os.kill(os.getpid(), 9)",
    "crashes": "ctypes.string_at(0)",
    "hangs": "[None for _ in iter(int, 1)]",
    "takes too much memory": "bytearray(2**30)",
    "answers what is no value": "forge()",
    "raises SystemExit": "sys.exit(4)",
    "floods": "[print('x' * 10**6) for _ in range(10**5)]",
    "cannot be loaded again": "os._exit(3)",
}
AT_TWO = """\
import ctypes
import os
import sys

import torch
{again}

def forge():
    encoder = sys._getframe(2).f_globals["Encoder"]
    encoder.answer = encoder.value = lambda *arguments: '["expected"]'


def plus_one(number):
    if number == 2:
        {does}
    return number + 1
"""
# A file is loaded with the number of calls before it as the seed.
ONCE = "\nif torch.initial_seed():\n    raise LookupError('again')\n"


@pytest.mark.parametrize("end", ENDS)
def test_what_is_no_reply_is_never_remembered(judges, end):
    """After whatever end, and before it, others are judged by what they answer themselves."""
    seconds = 0.5 if end == "hangs" else 2
    desk = judges(ENDS_ITSELF, toml=kits.TOML.replace("call = 1", f"call = {seconds}"))
    text = AT_TWO.format(does=ENDS[end], again=ONCE if end == "cannot be loaded again" else "")
    # Right until there, and then right, wrong, or without an answer.
    others = [
        RIGHT,
        that("number + 1 + (number == 2)"),
        that("number + 1 + (number == 3)"),
        that("number + 1 if number != 2 else 1 / 0"),
    ]
    assert desk.alone(text)["score"] < 7
    desk.agree([text, *others, text])
    desk.forget()
    desk.agree([*others, text, *others])


def test_time_that_is_used_up_is_never_remembered(judges):
    """A check that a submission had no time for says nothing about one that has."""
    toml = kits.TOML.replace("submission = 10", "submission = 2")
    desk = judges(ENDS_ITSELF, toml=toml)
    text = "import time\n\n\ndef plus_one(number):\n    time.sleep(0.7)\n    return number + 1\n"
    slow = [desk.at_the_desk(text) for _ in range(2)]
    for found in slow:
        _, first, *rest = found["checks"]
        assert first["outcome"] == "error"
        assert "used up the 2 s" in first["message"]
        assert {check["outcome"] for check in rest} == {"not_run"}
    desk.agree([RIGHT, that("number + 1 + (number == 3)"), RIGHT])


def test_time_that_comparing_takes_is_never_remembered(judges):
    """Where a call after it has used up the time, answers that take long to compare are compared
    all the same, as they would have been before it."""
    toml = kits.TOML.replace("submission = 10", "submission = 4").replace("call = 1", "call = 9")
    desk = judges(
        '''
        import time

        from grader.expect import Expectation, one_of


        class Slow(Expectation):
            def __init__(self, number):
                self.inner = one_of(exactly(number), exactly(float(number)))

            def difference(self, got):
                time.sleep(1.1)
                return self.inner.difference(got)


        @pytest.mark.points(4, group="values")
        def test_slow(submission):
            """Two numbers, and one more."""
            submission.check([Case((1,), Slow(2)), Case((2,), Slow(3))])
            assert submission(3) == exactly(4)


        @pytest.mark.points(3, group="values")
        def test_after(submission):
            """Ten follows nine."""
            assert submission(9) == exactly(10)
        ''',
        toml=toml,
    )
    floats = "def plus_one(number):\n    while number == {}:\n        pass\n"
    floats += "    return number + (1.0 if number < 3 else 1)\n"
    assert desk.at_the_desk(floats.format(-1))["score"] == 7
    found = desk.at_the_desk(floats.format(3))
    assert "fault" not in found
    assert "used up the 4 s" in found["checks"][1]["message"]
    assert desk.at_the_desk(RIGHT)["score"] == 7


# ---- fixtures

OUTLIVING = '''
    @pytest.fixture(scope="session")
    def whole():
        log("whole-begins")
        yield 1
        log("whole-ends")


    @pytest.fixture(scope="module")
    def part(whole):
        log("part-begins")
        yield whole
        log("part-ends")


    @pytest.fixture
    def single(part):
        log("single-begins")
        yield part
        log("single-ends")


    @pytest.mark.points({first}, group="values")
    def test_{name}_settled_first(submission, whole):
        """Two follows one."""
        assert submission(1) == exactly(2)


    @pytest.mark.points(1, group="values")
    @pytest.mark.fresh
    def test_{name}_always_run(submission, single):
        """Three follows two."""
        log("run")
        assert submission(2) == exactly(2 + single)


    @pytest.mark.points({last}, group="values")
    def test_{name}_settled_last(submission, single):
        """Four follows three."""
        assert submission(3) == exactly(3 + single)
'''


def test_fixtures_that_outlive_checks_end_once_and_in_order(judges):
    """However many checks around them are not run: as in a grading alone, and with it."""
    desk = judges(
        OUTLIVING.format(name="public", first=4, last=2),
        toml=WITH_HIDDEN,
        hidden=OUTLIVING.format(name="hidden", first=1, last=1).replace("log(", "log('h-' + "),
    )
    hidden = desk.tiny.root / "solutions" / desk.tiny.slug / "hidden.py"
    text = hidden.read_text(encoding="utf-8").replace(
        'with_name("log")', f'parents[2] / "problems" / "{desk.tiny.slug}" / "log"'
    )
    hidden.write_text(text.replace("def log('h-' + word)", "def log(word)"), encoding="utf-8")

    def parts(words: list[str]) -> list[str]:
        return [word for word in words if "part" in word or "whole" in word]

    desk.alone(RIGHT)
    desk.at_the_desk(RIGHT)
    written(desk.tiny)  # the reference's runs as well
    desk.alone(that("number + 1"))
    alone = parts(written(desk.tiny))
    assert len(alone) == 8
    for text in (RIGHT, that("number + 1 + (number == 3)"), RIGHT, WRONG, WRONG, RIGHT):
        desk.at_the_desk(text)
        words = written(desk.tiny)
        assert parts(words) == alone
        assert words.count("single-begins") == words.count("single-ends") >= 1


@pytest.mark.parametrize(
    "fixture",
    [
        "@pytest.fixture(scope='session')\ndef heard(ahead):\n    return ahead(9, 3)().values",
        "@pytest.fixture(scope='module')\ndef heard(grading):\n"
        "    return grading.submission.answers([Case((3,), exactly(4))])",
        "@pytest.fixture\ndef heard(ahead):\n    return ahead(9, 3)().values",
        "@pytest.fixture\ndef heard(submission):\n    return [submission(3)]",
        "@pytest.fixture\ndef heard(grading):\n    return [grading.open_submission()(3)]",
    ],
    ids=["ahead, once", "asked, once", "ahead", "submission", "another worker"],
)
def test_what_a_fixture_has_heard_counts(judges, fixture):
    """A check that judges what a fixture of its file was told is not settled by its own calls."""
    desk = judges(
        f"{fixture}\n\n\n"
        + textwrap.dedent(
            '''
            @pytest.mark.points(4, group="values")
            def test_one(heard, submission):
                """Two follows one, and four three."""
                assert submission(1) == exactly(2)
                assert heard == [4]


            @pytest.mark.points(3, group="values")
            def test_other(submission, heard):
                """Three follows two, and four three."""
                assert submission(2) == exactly(3)
                assert heard == [4]
            '''
        )
    )
    desk.agree([RIGHT, that("number + 1 + (number == 3)"), RIGHT, that("number + 3")])


# ---- faults of the kit, and what a desk costs


def test_a_fault_of_the_kit_is_told_of_its_own_submission_alone(judges):
    """Where a check breaks on an answer, the next submission is judged by its own answers."""
    desk = judges(
        '''
        @pytest.mark.points(4, group="values")
        def test_breaks(submission):
            """Two follows one."""
            answer = submission(1)
            if answer == "odd":
                raise LookupError("the check breaks")
            assert answer == exactly(2)


        @pytest.mark.points(3, group="values")
        def test_after(submission):
            """Three follows two."""
            assert submission(2) == exactly(3)
        '''
    )
    odd = that("'odd' if number == 1 else number + 1")
    for text in (that("number + 1 + (number == 2)"), WRONG, RIGHT):
        assert "LookupError" in desk.at_the_desk(odd)["fault"]
        desk.agree([text, RIGHT])


NO_HISTORY = '''
    @pytest.mark.points({points}, group="values")
    @pytest.mark.fresh
    def test_{number}(submission):
        """A number has a next one."""
        assert submission({number}) == exactly({number} + 1)
'''
THERE = '''
    @pytest.mark.points({points}, group="device")
    def test_{number}(submission, accelerator):
        """A number has a next one."""
        assert submission({number}) == exactly({number} + 1)
'''
NOT_THERE = "import torch\nif hasattr(torch, 'sim'):\n    1 / 0\n" + RIGHT


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (NO_HISTORY, RIGHT),
        (NO_HISTORY, WRONG),
        (THERE, RIGHT),
        (THERE, NOT_THERE),
    ],
    ids=["fresh, right", "fresh, wrong", "device, right", "device, does not load"],
)
def test_a_submission_is_loaded_no_more_often_than_alone(started, tmp_path, check, text):
    """Loading takes its time: who has slow imports may not run out of it at a desk alone."""
    text_of_checks = checks(
        *(check.format(number=number, points=points) for number, points in ((1, 4), (2, 3)))
    )
    tiny = kits.write_kit(tmp_path / "kit", checks=text_of_checks, solution=RIGHT)
    file = tmp_path / "next.py"
    file.write_text(text, encoding="utf-8")
    starts = []

    class Counting(Forked):
        def start(self) -> Any:
            starts.append(1)
            return super().start()

    counting = Counting()
    try:
        tiny.grade(file, counting, seed=1)  # with the reference, which is remembered
        starts.clear()
        alone = told(tiny.grade(file, counting, seed=1))
        needed = len(starts)
    finally:
        counting.close()

    _, reports, counts = in_this_process(tiny, started, [(text, 1)] * 3, tmp_path)

    assert reports == [alone] * 3
    assert max(counts) <= needed


def test_a_check_that_could_not_be_asked_teaches_nothing(judges):
    """A file that does not load where a device is fails there, and nobody after it does."""
    desk = judges(
        *(THERE.format(number=number, points=points) for number, points in ((1, 4), (2, 3)))
    )
    desk.agree([RIGHT, NOT_THERE, RIGHT, WRONG, NOT_THERE, WRONG, RIGHT])


def test_memory_stays_bounded(started, tmp_path):
    """A hundred different wrong files, half of them with seeds of their own, leave few ends of each
    check, and no dialogue but those of the seed that the desk is made for."""
    body = '''
        @pytest.mark.points(4, group="values")
        def test_by_hand(submission):
            """Two numbers, one after the other."""
            try:
                assert submission(1) == exactly(2)
            finally:
                submission(2)


        @pytest.mark.points(3, group="values")
        def test_many(submission):
            """Three numbers in one message."""
            submission.check(lambda: [Case((n,), exactly(n + 1)) for n in (1, 2, 3)])
        '''
    tiny = kits.write_kit(
        tmp_path / "kit",
        checks=checks(body),
        toml=WITH_HIDDEN,
        hidden=checks(ANY_NUMBER),
        solution=RIGHT,
    )
    (tiny.checks.parent / "diagnosis.py").write_text(QUESTIONS, encoding="utf-8")
    jobs = [(RIGHT, 1)]
    jobs += [(that(f"number + {n + 2}"), 1 if n % 2 else 1000 + n) for n in range(100)]

    memory, reports, _ = in_this_process(tiny, started, jobs, tmp_path)

    assert [report["score"] for report in reports] == [10] + [0] * 100
    assert all(report["likely_cause"] is not None for report in reports[1:])
    assert {key[1] for key in memory.dialogues} == {"public", "1"}
    assert len(memory.dialogues) == 3
    for dialogue in (*memory.dialogues.values(), *memory.examined.values()):
        assert len(dialogue._ends) == MOST_ENDS
        assert len(dialogue._asks) <= 1 + MOST_ENDS
        assert len(dialogue._seen) <= MOST_ENDS * 30
    assert len(memory.examined) == 1
    assert 1 < len(memory.causes) <= MOST_CAUSES
    assert len(memory.messages) == 2  # one of each check whose cases are made
