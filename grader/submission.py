"""The callable a check uses: a submission in a worker of its own, called and compared.

A check gives `Case`s, one call and its expected answer each, and `Submission.check` sends them in
one message, compares every answer whole, and tells the first that differs. A worker that hangs,
dies or answers nonsense is ended; the next call gets a new one. What goes wrong with a submission
is a `Mismatch` (points lost) or `NotRun` (could not be tried), never an error of the kit.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.clean import clean, clean_line
from grader.codec import ReplyPayload, RequestWriter, decode
from grader.dialogue import NOTHING, Dialogue, Record, Talk, heard
from grader.exchange import Exchange, Reply
from grader.expect import Expectation, Mismatch, changed
from grader.faults import KitFault
from grader.interpreter import OUTPUT_BYTES
from grader.memory import Key, Memory, Message
from grader.problem import Limits
from grader.report import Failure, Output
from grader.values import Array, Generator, Value, show
from grader.worker import wire
from grader.workers import Ending, Launcher, Worker

CALLS_PER_REPLY = 250
COMPARE_SECONDS = 1.0  # for the answers of one check, where no time of the submission is left
WORKERS_PER_MESSAGE = 3  # after so many deaths the other calls of a message are not tried
GENERATORS = ("torch", "numpy", "random")  # whose global ones are watched
# Exceptions that a hidden check tells by name. Of all there are a submission could choose by its
# inputs, and tell them.
TOLD_BY_NAME = frozenset(
    {"AttributeError", "IndexError", "KeyError", "NameError", "RuntimeError", "TypeError",
     "ValueError", "ZeroDivisionError"}
)  # fmt: skip
_OUT_OF_MEMORY = 72  # the exit code of a worker that had too little left to say so
_NOT_LOCKED = 73  # the exit code of a worker that could not lock itself
_BROKEN_WORKER = 71  # the exit code of a worker whose own code stopped working


class NotRun(Exception):
    """A check that cannot be tried here; the message is the reason."""


class NoDevice(NotRun):
    """The accelerator that a check asks for is not here, whatever the submission is."""


class NotLoaded(NotRun):
    """The submission could not be loaded, so nothing of it can be tried."""

    def __init__(self, failure: Failure) -> None:
        super().__init__("the submission could not be loaded")
        self.failure = failure


@dataclass(frozen=True, eq=False)
class Case:
    """One call and the answer it must have.

    note: what is special about it, for the learner. default_dtype: PyTorch's default during the
    call (float32 unless given). global_seed: what the global generators are seeded with before it.
    continues: they are not seeded, but go on from the call before it in the same message.
    state_after: the expected state afterwards of the generator argument, or of PyTorch's default
    generator where none is passed.
    """

    args: tuple[Value, ...]
    expects: Expectation
    kwargs: dict[str, Value] = field(default_factory=dict)
    note: str = ""
    default_dtype: str | None = None
    global_seed: int | None = None
    continues: bool = False
    state_after: bytes | None = None

    @property
    def arguments(self) -> int:
        """How many arguments are given, by position and by name."""
        return len(self.args) + len(self.kwargs)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one call did. Only `value` or `failure` is always there; the rest if it was observed.

    args_after: the arguments after the call, positional then by keyword (None where no array).
    generator: the state of the generator argument. moved: global generators that drew. reread:
    whether what follows is known. later: the answer read again after all calls. filled: the
    arguments after every answer was overwritten.
    shares: the places of arguments the answer shares memory with. twins: earlier answers it does.
    known: the reply was found right before; nothing else is told.
    """

    value: Value = None
    failure: Failure | None = None
    args_after: tuple[Value, ...] = ()
    generator: bytes | None = None
    moved: tuple[str, ...] = ()
    reread: bool = False
    later: Value = None
    filled: tuple[Value, ...] = ()
    shares: tuple[int, ...] = ()
    twins: tuple[int, ...] = ()
    known: bool = False


_KNOWN = Outcome(known=True)
_ASKS_OTHERWISE = (
    "a check asks otherwise than when it heard the same; it may depend on its fixtures and on what "
    "the submission says, and on nothing else"
)


@dataclass
class Evidence:
    """What the cases of a check showed, beyond the first that differs.

    wrong: answers whose numbers differ, whatever types carry them. unlike: no comparable answer at
    all. drew: right answers that left the generator in another state.
    """

    cases: int = 0
    passed: int = 0
    wrong: int = 0
    unlike: int = 0
    drew: int = 0


@dataclass(frozen=True, eq=False)
class Tally:
    """Answers of one call made many times, each distinct one once, their counts, and the order.

    An answer with an array of bfloat16, or with a dict, may stand there more than once.
    """

    values: list[Value]
    counts: list[int]
    order: npt.NDArray[np.uint32]


class Clock:
    """The time a submission may take in all, whichever of its workers takes it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._spent = 0.0
        self._since: float | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts the time until the block is left."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._spent += time.monotonic() - self._since
            self._since = None

    def left(self) -> float:
        """Seconds that may still be taken, 0 where there are none."""
        now = 0.0 if self._since is None else time.monotonic() - self._since
        return max(self.seconds - self._spent - now, 0.0)

    def deadline(self, seconds: float) -> float:
        """So many seconds from now, or the end of all time if that comes first."""
        return time.monotonic() + min(seconds, self.left())


class Submission:
    """Source text that runs in workers, one after another where one dies.

    accelerator: "" for none, "sim" to install the simulated one in every worker, "cuda" where the
    launcher leaves CUDA visible. clock: shared by all workers of one submission. memory: of the
    process that grades, where it grades many submissions; never with the kit's own code.
    """

    def __init__(
        self,
        launcher: Launcher,
        source: bytes,
        entries: Sequence[str],
        parameters: Sequence[str],
        limits: Limits,
        *,
        accelerator: str = "",
        clock: Clock | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._launcher = launcher
        self.memory = memory
        self._source = source
        self._entries = list(entries)
        self._parameters = list(parameters)
        self._limits = limits
        self._accelerator = accelerator
        self._worker: Worker | None = None
        # The nonces of locking and loading, asked for and not yet answered, or what went wrong.
        self._loading: tuple[bytes, bytes] | wire.WireError | None = None
        self._retired: list[Worker] = []
        self._printed: list[bytes] = []
        self._told: Output | None = None
        self._clock = clock or Clock(limits.submission)
        self._calls = 0
        self.load_failure: Failure | None = None
        self.evidence = Evidence()
        self._check: Key = ()
        self._messages = 0
        self._talk = Talk()  # of the running check
        self._talks_before = 0
        self._ahead: list[Exchange] = []  # what the next check will ask, begun already
        self._ever_loaded = False
        self.loads_elsewhere = False  # the same source has been loaded in another worker
        self.asked: Case | None = None  # the last call that was made by hand

    # ---- what a check uses

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """One call's answer, decoded; Mismatch where there is none."""
        case = self.asked = Case(args, _ANYTHING, kwargs)
        outcome = self.outcomes([case])[0]
        if outcome.failure is not None:
            raise _failed(case, outcome.failure, self._parameters)
        return outcome.value

    def told_call(self) -> str:
        """The inputs of the last call that a check made by hand, a line each; else nothing."""
        return f"{describe(self.asked, self._parameters)}\n" if self.asked else ""

    def check(
        self,
        cases: Iterable[Case] | Callable[[], Iterable[Case]],
        *,
        unchanged: bool = False,
        private: bool = False,
        globals_untouched: bool = False,
        reuse: bool = False,
    ) -> None:
        """Makes every call and raises one Mismatch unless each answer is the expected one.

        cases: or a function that makes them from the check's own fixtures and nothing else; where
        many submissions are graded it is called once for all of them.
        unchanged: the arguments keep their bytes, shape, strides and flags. private: answers share
        no memory with arguments or with each other. globals_untouched: no global generator of
        PyTorch, NumPy or Python draws. reuse: every call gets the array objects of the call before,
        refilled with its own values, where shape and dtype allow it.
        """
        wanted = {
            "args": unchanged or private,  # what a call changed itself is not shared memory
            "private": private,
            "globals": globals_untouched,
        }
        message = self._asked(cases, [name for name, want in wanted.items() if want], reuse)
        cases, observe = message.cases, message.observe
        outcomes = self.outcomes(cases, observe, reuse=reuse, message=message)
        passed, first = 0, None
        began = time.monotonic()
        with self._clock.running():  # an answer can be made to be slow to compare
            for index, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)):
                if outcome.known:
                    passed += 1
                    continue
                late = not self._clock.left() and time.monotonic() > began + COMPARE_SECONDS
                if late and outcome.failure is None:
                    self._talk.whole = False
                    outcome = Outcome(failure=Failure("timeout", self._used_up()))
                found = self._fault(case, outcome, observe, unchanged, told=first is None)
                if found is None:
                    passed += 1
                    continue
                self._take_as_evidence(case, outcome)
                if first is None:
                    first = found
                    first.first = case.note or f"case {index + 1}"
        self.evidence.cases += len(cases)
        self.evidence.passed += passed
        if first is None:
            return
        if len(cases) > 1:
            agree = f"{passed} of {len(cases)} cases agree; the first that does not:"
            first.message = f"{agree}\n{first.message}"
        raise first

    def repeat(self, times: int, *args: Value, **kwargs: Value) -> Tally:
        """Makes the same call many times, tensors fresh each time, one generator streaming on."""
        self._ready()
        return self.begin_repeat(times, *args, **kwargs)()

    def begin_repeat(self, times: int, *args: Value, **kwargs: Value) -> Callable[[], Tally]:
        """Begins what `repeat` does and returns at once; what is returned waits for the Tally.

        Meanwhile this submission must not be asked anything else.
        """
        self.prepare()
        case = Case(args, _ANYTHING, kwargs)
        writer = RequestWriter()
        header = {
            "do": "repeat",
            "call": _call(case, writer, self._entries[0]),
            "calls_before": self._calls,
            "times": times,
            "every": CALLS_PER_REPLY,
        }
        self._calls += 1
        self._talks()
        asked: bytes | wire.WireError = wire.Closed("nothing was asked")
        if self._worker is not None:  # else there is a load failure, which is told in its place
            try:
                asked = self._worker.send(header, writer.payload(), self._deadline())
            except wire.WireError as error:
                asked = error
        return partial(self._tally, case, times, asked)

    def _tally(self, case: Case, times: int, asked: bytes | wire.WireError) -> Tally:
        """Reads the answers to `begin_repeat`: the nonce of its request, or why it was not sent."""
        worker = self._ready()
        self._talks()
        values: list[Value] = []
        parts: list[npt.NDArray[np.uint32]] = []
        with self._clock.running():
            try:
                if isinstance(asked, wire.WireError):
                    raise asked
                nonce = asked
                for start in range(0, times, CALLS_PER_REPLY):
                    reply, data = worker.reply(nonce, self._deadline())
                    if reply.get("i") != start or type(reply["i"]) is not int:
                        raise wire.WireError("a reply out of order")
                    if not set(reply) <= {"i", "values", "order", "failed"}:
                        raise wire.WireError("a reply with other parts than were asked for")
                    if "failed" in reply:
                        failure = _read_failure(reply["failed"])
                        self.retire()  # whatever else it still says is an answer to this
                        raise _failed(case, failure, self._parameters)
                    payload = ReplyPayload(data)
                    order = _numbers(reply, payload)
                    expected = min(CALLS_PER_REPLY, times - start)
                    new = _list(reply, "values")
                    if len(new) > expected:
                        raise wire.WireError("more answers than calls")
                    values += [decode(v, payload) for v in new]
                    if len(order) != expected or (order.size and int(order.max()) >= len(values)):
                        raise wire.WireError("a tally that does not add up")
                    parts.append(order)
            except wire.WireError as error:
                raise _failed(case, self._ended(error), self._parameters) from None
        order = np.concatenate(parts) if parts else np.zeros(0, np.uint32)
        counts = np.bincount(order, minlength=len(values)).tolist()
        return Tally(values, counts, order)

    def outcomes(
        self,
        cases: Sequence[Case],
        observe: Sequence[str] = (),
        entry: str | None = None,
        *,
        reuse: bool = False,
        message: Message | None = None,
    ) -> list[Outcome]:
        """Makes all calls in one message. observe: any of args, generator, globals, private.
        message: these calls as they are written already, by who needs no answer that is known to
        be right.

        After a call that kills its worker the remaining ones are made in a new worker, until
        WORKERS_PER_MESSAGE have died. Raises NotLoaded, or NotRun where the submission has used up
        its time.
        """
        outcomes: list[Outcome] = []
        workers = 0
        while len(outcomes) < len(cases):
            if workers == WORKERS_PER_MESSAGE or (workers and not self._clock.left()):
                kind = outcomes[-1].failure.kind if outcomes[-1].failure else "died"
                untried = Failure(kind, "was not called any more after what happened before")
                outcomes += [Outcome(failure=untried)] * (len(cases) - len(outcomes))
                break
            judged = message is not None and not outcomes
            if outcomes or message is None:
                left = cases[len(outcomes) :]
                message = self.written(left, observe, entry, reuse)
            outcomes += self._message(message, judged)
            workers += 1
        return outcomes

    def answers(self, cases: Sequence[Case]) -> list[Value]:
        """The answers to all calls, for a check that compares them by hand; Mismatch where a call
        has none."""
        outcomes = self.outcomes(cases)
        for case, outcome in zip(cases, outcomes, strict=True):
            if outcome.failure is not None:
                raise _failed(case, outcome.failure, self._parameters)
        return [outcome.value for outcome in outcomes]

    # ---- what the session uses

    def unavailable(self) -> str | None:
        """Why the accelerator is not here, or None; the submission is loaded to find out."""
        try:
            self._ready()
        except NotLoaded:
            return None
        except NotRun as error:
            return str(error)
        return None

    def begin(self, check: Key) -> None:
        """A check begins; its name also says what its random numbers depend on."""
        self._check, self._messages = check, 0
        self.evidence = Evidence()
        self._talk = Talk()
        self._talks_before = self.memory.talks if self.memory is not None else 0

    def talk(self, *, alone: bool = True) -> Talk | None:
        """What the running check has asked and heard; None where that is not all it has heard.

        alone: neither was another submission asked meanwhile.
        """
        talks = self.memory.talks - self._talks_before if self.memory is not None else 0
        steps = len(self._talk.steps)
        return self._talk if self._talk.whole and steps and (talks == steps or not alone) else None

    def settle(self, dialogue: Dialogue) -> Record | None:
        """Asks what a check is going to ask, as long as it hears what it has heard before.

        Its record if it does to the end; else None. To be called where the submission is loaded.
        Whoever runs the check then goes on from what has been asked; whoever does not, leaves it.
        """
        so_far = NOTHING
        while (record := dialogue.end(so_far)) is None:
            message = dialogue.asks(so_far)
            if message is None:
                return None
            exchange = self._sent(message)
            self._ahead.append(exchange)
            with self._clock.running():
                try:
                    for place in range(message.replies):
                        reply = exchange.reply(place)
                        so_far = heard(so_far, reply.text, reply.payload)
                        if not dialogue.has_seen(so_far):
                            return None
                except wire.WireError:  # the check is told the same
                    return None
        return record

    def leave(self) -> None:
        """What was asked ahead will not be read."""
        self._ahead.clear()

    @property
    def is_loaded(self) -> bool:
        """Whether it can be asked at once."""
        return self._worker is not None and self._loading is None

    def end(self) -> None:
        """A check has ended; it has read what was asked ahead of it, or had no time to."""
        if self._ahead:
            self._ahead.clear()
            self.retire()
            if self._talk.whole:
                raise KitFault(_ASKS_OTHERWISE)

    def _talks(self) -> None:
        if self.memory is not None:
            self.memory.talks += 1

    def load_or_raise(self) -> None:
        """Loads the submission if it never was; raises NotLoaded where it cannot be."""
        if not self._ever_loaded:
            self._ready()

    def stop_telling(self) -> None:
        """From now on what is printed is not told: it could hold the inputs of hidden checks."""
        if self._told is None:
            running = [] if self._worker is None else [self._worker.printed_so_far()]
            self._told = _output([*self._all_printed(), *running])

    def close(self) -> Output:
        """Ends every worker; what was printed by all of them, capped."""
        self.retire()
        printed = self._all_printed()
        return self._told or _output(printed)

    def _all_printed(self) -> list[bytes]:
        """What every worker that is no longer used has printed; waits for their ends."""
        for worker in self._retired:
            self._printed.append(worker.printed())
        self._retired.clear()
        return self._printed

    # ---- one message

    def written(
        self,
        cases: Sequence[Case],
        observe: Sequence[str],
        entry: str | None,
        reuse: bool = False,
    ) -> Message:
        """A message of calls."""
        entry = entry or self._entries[0]
        writer = RequestWriter()
        header = {
            "do": "calls",
            "calls": [_call(case, writer, entry) for case in cases],
            "observe": list(observe),
            "reuse": reuse,
        }
        return Message(cases, observe, wire.encode(header), writer.payload())

    def _asked(
        self,
        cases: Iterable[Case] | Callable[[], Iterable[Case]],
        observe: Sequence[str],
        reuse: bool,
    ) -> Message:
        """What a check asks, as a message; one whose cases a function makes is remembered."""
        self._messages += 1
        # One function for one branch of a check.
        key = (self._check, self._messages, getattr(cases, "__code__", None))
        made = callable(cases)
        if made and self.memory is not None and (known := self.memory.find(key)) is not None:
            return known
        listed = list(cases() if callable(cases) else cases)
        if not listed:
            raise KitFault("a check without a single case")
        if any(case.state_after is not None for case in listed):
            observe = [*observe, "generator"]
        message = self.written(listed, observe, None, reuse)
        if made and self.memory is not None:
            self.memory.keep(key, message)
        return message

    def _message(self, message: Message, judged: bool) -> list[Outcome]:
        """The outcomes of as many calls as one worker lives through, at least one.

        judged: who asks needs no answer that is known to be right.
        """
        exchange = self._begun(message) or self._sent(message)
        message = exchange.message
        cases, observe = message.cases, message.observe
        self._talks()
        self._talk.ask(message)
        # What a call did in private is told by the last reply: none is right by itself.
        judged = judged and "private" not in observe
        outcomes: list[Outcome] = []
        with self._clock.running():
            try:
                for place, case in enumerate(cases):
                    reply = self._heard(exchange, place)
                    if judged and message.knows(place, reply.text, reply.payload):
                        outcomes.append(_KNOWN)
                        continue
                    outcomes.append(_read_outcome(reply, place, case, observe))
                    if judged and self.memory is not None and self.memory.learns:
                        message.learn(place, reply.text, reply.payload)
                if "private" in observe:
                    last = self._heard(exchange, len(cases))
                    outcomes = _read_private(last, outcomes, cases)
            except wire.WireError as error:
                self._talk.whole = False
                failure = Outcome(failure=self._ended(error))
                if len(outcomes) == len(cases):  # only the last reply, on privacy, is missing
                    outcomes[-1] = failure
                else:
                    outcomes.append(failure)
        return outcomes

    def _sent(self, message: Message) -> Exchange:
        worker = self._ready()
        exchange = Exchange(message, self._deadline)
        with self._clock.running():
            exchange.send(worker, self._calls)
        self._calls += len(message.cases)
        return exchange

    def _heard(self, exchange: Exchange, place: int) -> Reply:
        reply = exchange.reply(place)
        if self.memory is not None:
            self._talk.hear(reply.text, reply.payload)
        return reply

    def _begun(self, message: Message) -> Exchange | None:
        """The exchange of this message, if it was begun ahead of the check."""
        if not self._ahead:
            return None
        exchange = self._ahead.pop(0)
        if not exchange.message.same_as(message):
            raise KitFault(_ASKS_OTHERWISE)
        return exchange

    def _take_as_evidence(self, case: Case, outcome: Outcome) -> None:
        """Counts a case that was not passed by what it says about the output law."""
        likeness = "unlike" if outcome.failure else case.expects.likeness(outcome.value)
        self.evidence.wrong += likeness == "different"
        self.evidence.unlike += likeness == "unlike"
        moved = case.state_after is not None and outcome.generator != case.state_after
        self.evidence.drew += likeness == "same" and moved

    def _fault(
        self,
        case: Case,
        outcome: Outcome,
        observe: Sequence[str],
        unchanged: bool,
        *,
        told: bool,
    ) -> Mismatch | None:
        """Why a case is not passed; None if it is. told: whether anybody will read it."""
        if outcome.failure is not None:
            return _failed(case, outcome.failure, self._parameters) if told else Mismatch("")
        names = [*self._parameters[: len(case.args)], *case.kwargs]
        given = [*case.args, *case.kwargs.values()]
        found = case.expects.difference(outcome.value)
        kind, text = "", ""
        if found is not None:
            kind, text = f"{found.place}: wrong {_KINDS[found.kind]}", found.text
        elif unchanged and (text := _first_change(given, outcome.args_after, names)):
            kind, text = "an argument was changed", f"you changed an argument: {text}"
        elif outcome.moved and "globals" in observe:
            names_moved = ", ".join(name for name in GENERATORS if name in outcome.moved)
            kind = f"the global generator of {names_moved} was drawn from or seeded"
            passed = any(isinstance(value, Generator) for value in given)
            rule = "use the generator that is passed" if passed else "draw nothing and seed nothing"
            text = f"{kind}: {rule}"
        elif case.state_after is not None and outcome.generator != case.state_after:
            kind = "the generator's state afterwards"
            text = (
                "the answer is right, but the generator was left in another state: more, fewer "
                "or other random numbers were drawn than the statement says"
            )
        elif outcome.reread:
            kind, text = self._not_private(case, outcome, names)
        if not text:
            return None
        if not told:
            return Mismatch("")
        message = f"{describe(case, self._parameters)}\n{text}"
        return Mismatch(message, kind=kind, about=found.about if found else "side effect")

    def _not_private(self, case: Case, outcome: Outcome, names: list[str]) -> tuple[str, str]:
        shared = [names[i] for i in outcome.shares if i < len(names)]
        if shared or _first_change(outcome.args_after, outcome.filled, names):
            which = shared[0] if shared else "an argument"
            return "the answer shares memory with an argument", (
                f"the answer shares memory with {which}: whoever writes into one changes the other"
            )
        if case.expects.difference(outcome.later) is not None or outcome.twins:
            return "two answers share memory", (
                "the answers of two calls share memory: the later call changed the earlier answer, "
                "or whoever writes into one changes the other"
            )
        return "", ""

    # ---- workers

    def _deadline(self) -> float:
        """When the next reply to a call must be here."""
        return self._clock.deadline(self._limits.call)

    def _ready(self) -> Worker:
        """A worker in which the submission is loaded."""
        if self._worker is not None and self._loading is None:
            return self._worker
        # What prevents it may be told, and is no reply.
        whole, self._talk.whole = self._talk.whole, False
        if self.load_failure is not None:
            raise NotLoaded(self.load_failure)
        if not self._clock.left():
            raise NotRun(f"the submission used up its {self._clock.seconds:g} s before this")
        if self._ever_loaded:
            with self._clock.running():  # a new worker is needed through its own doing
                self.prepare()
        else:
            self.prepare()
        worker = self._worker
        assert worker is not None
        with self._clock.running():
            failure = self._loaded(worker)
        if failure is None:
            if self._ever_loaded:
                worker.forget_output()  # what is printed while loading was printed the first time
            self._ever_loaded = True
            self._talk.whole = whole
            return worker
        self._end_worker()
        if self._ever_loaded or self.loads_elsewhere:
            # It loaded before: this is one more way to fail a call, not a file that cannot load.
            raise Mismatch(
                f"the file could not be loaded again: {failure.message}",
                failure=failure,
                kind=_told(failure),
                about="no answer",
            )
        self.load_failure = failure
        raise NotLoaded(failure)

    def prepare(self) -> None:
        """Starts a worker and sends it the source, without waiting until that is loaded."""
        if self._worker is not None or self.load_failure is not None:
            return
        self._worker = self._launcher.start()
        lock = {"do": "lock", "memory": self._limits.memory, "accelerator": self._accelerator}
        load = {
            "do": "load",
            "entries": self._entries,
            "parameters": self._parameters,
            "seed": self._calls,
        }
        try:
            deadline = self._clock.deadline(self._limits.load)
            locking = self._worker.send(lock, b"", deadline)
            self._loading = locking, self._worker.send(load, self._source, deadline)
        except wire.WireError as error:
            self._loading = error  # told when somebody wants the worker

    def _loaded(self, worker: Worker) -> Failure | None:
        """Waits until the source is loaded; what prevents it, if anything."""
        loading, self._loading = self._loading, None
        assert loading is not None
        locked = False
        try:
            if isinstance(loading, wire.WireError):
                raise loading
            deadline = self._clock.deadline(self._limits.load)
            reply, _ = worker.reply(loading[0], deadline)
            self._read_locked(reply)
            locked = True  # from here on what the worker says and how it ends is the submission's
            reply, _ = worker.reply(loading[1], deadline)
            return None if set(reply) == {"loaded"} else _read_failure(reply.get("failed"))
        except wire.WireError as error:
            return self._ended(error, loading=True, locked=locked)

    def _read_locked(self, reply: dict[str, Any]) -> None:
        """The worker's word that it is locked, sent before it has read any of the submission."""
        if set(reply) == {"unavailable"} and type(reply["unavailable"]) is str:
            self._end_worker()
            raise NoDevice(clean_line(reply["unavailable"], 300))
        if set(reply) != {"locked"}:
            raise wire.WireError("neither locked nor unable to")

    def _used_up(self) -> str:
        return f"used up the {self._clock.seconds:g} s it may take in all and was stopped"

    def retire(self) -> None:
        """Kills the worker, if there is one, and leaves waiting for its end to `close`."""
        worker, self._worker, self._loading = self._worker, None, None
        if worker is not None:
            worker.kill()
            self._retired.append(worker)

    def _end_worker(self) -> Ending | None:
        worker, self._worker, self._loading = self._worker, None, None
        if worker is None:
            return None
        ending = worker.close()
        self._printed.append(worker.printed())
        return ending

    def _ended(
        self, error: wire.WireError, *, loading: bool = False, locked: bool = True
    ) -> Failure:
        """Ends the worker after something went wrong between us, and says what that was."""
        worker = self._worker
        by_itself = worker is not None and worker.ended_by_itself(
            1.0 if isinstance(error, wire.Closed) else 0.0
        )
        ending = self._end_worker()
        doing = "loading" if loading else "a call"
        if isinstance(error, wire.Late):
            if not self._clock.left():
                return Failure("timeout", self._used_up())
            if loading:
                what = f"took longer than {self._limits.load:g} s to load"
            else:
                what = f"took longer than {self._limits.call:g} s for one call"
            return Failure("timeout", f"{what} and was stopped")
        if not isinstance(error, wire.Closed):
            return Failure("malformed", f"answered with something that is not a value ({error})")
        if not by_itself or ending is None:
            return Failure("died", "closed its connection to the grader")
        if ending.signal is not None:
            return Failure("crash", f"crashed ({_signal(ending.signal)}) during {doing}")
        if ending.code == _OUT_OF_MEMORY:
            return Failure("memory", f"used more than {self._limits.memory} MiB of memory")
        if ending.code == _BROKEN_WORKER:
            return Failure("died", "changed something in Python that the grader needs to answer")
        if ending.code == _NOT_LOCKED and not locked:
            raise KitFault("isolation: a worker could not put its locks on, so nothing was graded")
        return Failure("exit", f"ended the process during {doing} (exit code {ending.code})")


def _output(parts: list[bytes]) -> Output:
    data = b"".join(parts)
    kept = data[:OUTPUT_BYTES]
    cut = any(len(part) >= OUTPUT_BYTES for part in parts) or len(data) > len(kept)
    return Output(clean(kept.decode("utf-8", "replace"), OUTPUT_BYTES), cut)


def _signal(number: int) -> str:
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"


class Trusted:
    """Source of the kit's own in workers: the reference, or a helper such as the draws.

    It has the interface of a submission, but whatever goes wrong with it is a KitFault. What it
    answers is kept in the memory.
    """

    def __init__(self, what: str, submission: Submission, memory: Memory | None) -> None:
        self._what = what
        self._submission = submission
        self._memory = memory

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        return self.outcomes([Case(args, _ANYTHING, kwargs)])[0].value

    def outcomes(
        self, cases: Sequence[Case], observe: Sequence[str] = (), entry: str | None = None
    ) -> list[Outcome]:
        """As a submission's; every outcome has a value."""
        message = self._submission.written(cases, observe, entry)
        memory, key = self._memory, (self._what, message.text, message.payload)
        if memory is not None and key in memory.answers:
            return memory.answers[key]
        try:
            outcomes = self._submission.outcomes(cases, observe, entry, message=message)
        except NotLoaded as error:
            raise KitFault(f"{self._what} does not load: {error.failure.message}") from None
        except (NotRun, Mismatch) as error:
            raise KitFault(f"{self._what}: {error}") from None
        for outcome in outcomes:
            if outcome.failure is not None:
                lines = outcome.failure.traceback or ""
                raise KitFault(f"{self._what}: {outcome.failure.message}\n{lines}".rstrip())
        if memory is not None and memory.learns:
            memory.answers[key] = outcomes
        return outcomes

    def prepare(self) -> None:
        """As a submission's."""
        self._submission.prepare()


class Helper(Trusted):
    """A helper module of a problem: `draws("coins", seed, 3)` calls its function `coins`."""

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        name, *rest = args
        case = Case(tuple(rest), _ANYTHING, kwargs)
        return self.outcomes([case], entry=name)[0].value


def _call(case: Case, writer: RequestWriter, entry: str) -> dict[str, Any]:
    return {
        "entry": entry,
        "args": [writer.value(a) for a in case.args],
        "kwargs": {name: writer.value(a) for name, a in case.kwargs.items()},
        "seed": "none" if case.continues else case.global_seed,
        "default_dtype": case.default_dtype,
    }


class _Anything(Expectation):
    def difference(self, got: Value) -> None:
        return None


_ANYTHING = _Anything()

_KINDS = {
    "type": "type", "keys": "keys", "length": "number of items", "dtype": "dtype",
    "shape": "shape", "device": "device", "flag": "requires_grad flag", "value": "value",
    "zeros": "value: an entry that is 0 where it must not be, or not 0 where it must",
}  # fmt: skip


def describe(case: Case, parameters: Sequence[str]) -> str:
    """A case's inputs, a line each, under the names of the parameters."""
    named = [*zip(parameters, case.args, strict=False), *case.kwargs.items()]
    width = max((len(name) for name, _ in named), default=0)
    lines = [f"  {name:<{width}} = {show(value)}{_about(value)}" for name, value in named]
    if case.default_dtype not in (None, "float32"):
        lines.append(f"  with torch.set_default_dtype(torch.{case.default_dtype})")
    if case.global_seed is not None and not any(isinstance(v, Generator) for _, v in named):
        lines.append(f"  after torch.manual_seed({case.global_seed})")
    return "\n".join([f"case: {case.note}"] * bool(case.note) + lines)


def _about(value: Value) -> str:
    """What of an array the numbers do not show."""
    if not isinstance(value, Array):
        return ""
    words = [value.dtype]
    if len(value.shape) != 1 or value.shape[0] > 8:
        words.append(f"shape {value.shape}")
    if value.device != "cpu":
        words.append(value.device)
    if value.layout != "contiguous":
        words.append(_LAYOUT_WORDS[value.layout])
    return f"  ({', '.join(words)})"


_LAYOUT_WORDS = {
    "column": "a column of a wider matrix, not contiguous",
    "every_second": "every second entry, not contiguous",
    "expanded": "expanded, stride 0",
    "read_only": "read-only",
}


def _failed(case: Case, failure: Failure, parameters: Sequence[str]) -> Mismatch:
    lines = [describe(case, parameters), f"your code {_sentence(failure)}"]
    if failure.traceback:
        lines.append(failure.traceback)
    return Mismatch("\n".join(lines), failure=failure, kind=_told(failure), about="no answer")


def _sentence(failure: Failure) -> str:
    return (
        f"raised {failure.message}"
        if failure.kind in ("exception", "import_error")
        else failure.message
    )


_TOLD = {
    "exit": "ended the program itself",
    "memory": "used more memory than it may",
    "timeout": "took longer than it may and was stopped",
    "crash": "crashed",
    "died": "broke its connection to the grader",
    "flood": "printed more than it may",
    "too_large": "returned more than can be read",
    "malformed": "answered with something that is not a value",
}


def _told(failure: Failure) -> str:
    """A failure by its kind alone: whatever else it says a submission may have chosen, and could
    choose by the inputs, which are secret. Of an exception, the name if it is a usual one."""
    if failure.kind in ("exception", "import_error"):
        name = failure.message.partition(":")[0]
        return f"your code raised {name if name in TOLD_BY_NAME else 'an exception'}"
    return f"your code {_TOLD.get(failure.kind, 'could not be loaded again')}"


def _first_change(given: Sequence[Value], after: Sequence[Value], names: Sequence[str]) -> str:
    for before, now, name in zip(given, after, names, strict=False):
        text = changed(before, now, name)
        if text:
            return text
    return ""


# ---- replies, read strictly


def _read_failure(spec: Any) -> Failure:
    if type(spec) is not dict or type(spec.get("kind")) is not str:
        raise wire.WireError("a failure without a kind")
    kind, message, lines = spec["kind"], spec.get("message"), spec.get("traceback")
    if (
        kind not in _FAILURE_KINDS
        or type(message) is not str
        or type(lines) not in (str, type(None))
    ):
        raise wire.WireError("a failure of an unknown kind")
    return Failure(
        kind,
        clean(message, wire.MESSAGE_LIMIT).strip() or "an error without a word",
        clean(lines, wire.TRACEBACK_LIMIT) if lines else None,
    )


_FAILURE_KINDS = frozenset(
    {
        "syntax_error",
        "import_error",
        "missing_entry",
        "not_callable",
        "wrong_arity",
        "exception",
        "exit",
        "memory",
        "flood",
        "too_large",
    }
)


def _read_outcome(came: Reply, index: int, case: Case, observe: Sequence[str]) -> Outcome:
    reply, payload = came.header, ReplyPayload(came.payload)
    if reply.get("i") != index or type(reply["i"]) is not int:
        raise wire.WireError("a reply out of order")
    names = {"args": "args", "generator": "generator", "globals": "moved"}
    allowed = {"i", "value", "failed", *(names[each] for each in observe if each in names)}
    if not set(reply) <= allowed or ("value" in reply) == ("failed" in reply):
        raise wire.WireError("a reply with other parts than were asked for")
    if "failed" in reply:
        return Outcome(failure=_read_failure(reply["failed"]))
    value = decode(reply.get("value"), payload)
    args = tuple(decode(a, payload) for a in _list(reply, "args")) if "args" in observe else ()
    if "args" in observe and len(args) != case.arguments:
        raise wire.WireError("another number of arguments than were given")
    moved = tuple(_list(reply, "moved")) if "globals" in observe else ()
    if any(name not in GENERATORS for name in moved) or len({*moved}) < len(moved):
        raise wire.WireError("an unknown global generator, or one twice")
    state = None
    if "generator" in observe and reply.get("generator") is not None:
        state = _bytes(reply["generator"], payload)
    return Outcome(value=value, args_after=args, generator=state, moved=moved)


def _read_private(came: Reply, outcomes: list[Outcome], cases: Sequence[Case]) -> list[Outcome]:
    reply, payload = came.header, ReplyPayload(came.payload)
    if set(reply) != {"i", "later", "shares", "twins", "filled"}:
        raise wire.WireError("a reply with other parts than were asked for")
    if reply["i"] != len(cases) or type(reply["i"]) is not int:
        raise wire.WireError("a reply out of order")
    later, shares, twins, filled = (
        _list(reply, key) for key in ("later", "shares", "twins", "filled")
    )
    if {len(part) for part in (later, shares, twins, filled)} != {len(outcomes)}:
        raise wire.WireError("a reply about another number of calls")
    read = []
    for outcome, case, again, own, other, after in zip(
        outcomes, cases, later, shares, twins, filled, strict=True
    ):
        if any(type(part) is not list for part in (own, other, after)):
            raise wire.WireError("an illegal list")
        if any(type(i) is not int or i < 0 for i in own + other):
            raise wire.WireError("an illegal place")
        if len(after) != case.arguments:
            raise wire.WireError("another number of arguments than were given")
        read.append(
            Outcome(
                outcome.value,
                outcome.failure,
                outcome.args_after,
                outcome.generator,
                outcome.moved,
                reread=True,
                later=decode(again, payload),
                filled=tuple(decode(a, payload) for a in after),
                shares=tuple(own),
                twins=tuple(other),
            )
        )
    return read


def _list(reply: dict[str, Any], key: str) -> list[Any]:
    found = reply.get(key)
    if type(found) is not list:
        raise wire.WireError(f"a reply without {key}")
    return found


def _bytes(at: Any, payload: ReplyPayload) -> bytes:
    if type(at) is not list or len(at) != 2 or any(type(i) is not int or i < 0 for i in at):
        raise wire.WireError("an illegal place in the payload")
    return payload.take(at[0], at[1])


def _numbers(reply: dict[str, Any], payload: ReplyPayload) -> npt.NDArray[np.uint32]:
    data = _bytes(reply.get("order"), payload)
    if len(data) % 4:
        raise wire.WireError("an order that is no list of numbers")
    return np.frombuffer(data, dtype="<u4")
