"""A message that has been sent to a worker, and the replies to it one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader.memory import Message
from grader.worker import wire
from grader.workers import Worker

CALL_SECONDS = 60e-6  # what a quick call takes with its reply


@dataclass(eq=False)
class Reply:
    """A reply as it came. text: of the header."""

    text: bytes
    payload: memoryview

    @cached_property
    def header(self) -> dict[str, Any]:
        """Raises WireError where it is none."""
        return wire.parse(self.text)


class Exchange:
    """Replies that have come are kept until they are asked for; so is what ended them."""

    def __init__(self, message: Message, deadline: Callable[[], float]) -> None:
        """deadline: when the next reply must be here."""
        self.message = message
        self._deadline = deadline
        self._most = 2 * wire.ANSWER_LIMIT + len(message.payload)
        self._worker: Worker | None = None
        self._nonce = b""
        self._came: list[Reply] = []
        self._error: wire.WireError | None = None

    def send(self, worker: Worker, calls_before: int) -> None:
        """Sends it. What goes wrong is raised by whoever asks for a reply.

        calls_before: of this submission, for the seeds of calls that name none: every one gets a
        stream of its own.
        """
        self._worker = worker
        text = b'%s,"calls_before":%d}' % (self.message.text[:-1], calls_before)
        try:
            self._nonce = worker.send(text, self.message.payload, self._deadline())
        except wire.WireError as error:
            self._error = error

    def reply(self, place: int) -> Reply:
        """A reply, waited for if it has not come. Raises WireError where there is none.

        place: 0, or the one after the last that was asked for.
        """
        if place == len(self._came):
            self._came.append(self._next(place))
        return self._came[place]

    def _next(self, place: int) -> Reply:
        if self._error is not None:
            raise self._error
        assert self._worker is not None
        try:
            self._worker.doze(CALL_SECONDS * (self.message.replies - place))
            text, payload = self._worker.reply_as_it_came(self._nonce, self._deadline())
            if place < len(self.message.cases) and len(payload) > self._most:
                raise wire.WireError("a reply larger than an answer can be")  # all are kept
        except wire.WireError as error:
            self._error = error
            raise
        return Reply(text, payload)
