"""A check by what it asks and how it ends, as far as that has been seen.

A check is given nothing of a submission but replies. What it asks next, and how it ends, therefore
follows from the replies until then: one that hears to the byte what it has heard before, from
whomever, need not be run again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.memory import Message

MOST_ENDS = 16  # of one check; what most submissions answer is among the first
NOTHING = bytes(16)  # what a check has heard when it begins

Record = dict[str, Any]


def heard(before: bytes, text: bytes, payload: memoryview) -> bytes:
    """What stands for everything heard so far, once a reply is added: its header and payload."""
    digest = blake2b(before, digest_size=len(NOTHING))
    digest.update(len(text).to_bytes(4, "little"))
    digest.update(text)
    digest.update(payload)
    return digest.digest()


@dataclass(eq=False)
class Talk:
    """What a running check has asked one submission, with what it had heard after each reply.

    whole: it has heard nothing else, such as the end of a worker or of a time limit.
    """

    steps: list[tuple[Message, list[bytes]]] = field(default_factory=list)
    last: bytes = NOTHING
    whole: bool = True

    def ask(self, message: Message) -> None:
        """A message is sent."""
        self.steps.append((message, []))

    def hear(self, text: bytes, payload: memoryview) -> None:
        """A reply to it has come."""
        self.last = heard(self.last, text, payload)
        self.steps[-1][1].append(self.last)


class Dialogue:
    """One check; everything is found by what it has heard."""

    def __init__(self) -> None:
        self._asks: dict[bytes, Message] = {}
        self._seen: set[bytes] = set()
        self._ends: dict[bytes, Record] = {}

    def asks(self, so_far: bytes) -> Message | None:
        """What it asks next; None where that has not been seen."""
        return self._asks.get(so_far)

    def has_seen(self, so_far: bytes) -> bool:
        """Whether it has heard that before."""
        return so_far in self._seen

    def end(self, so_far: bytes) -> Record | None:
        """The record that it leaves; None where it does not end there, or that was not seen."""
        return self._ends.get(so_far)

    def learn(self, talk: Talk, record: Record) -> None:
        """Remembers how a run went, unless enough are remembered."""
        if len(self._ends) == MOST_ENDS:
            return
        so_far = NOTHING
        for message, replies in talk.steps:
            same = (known for known in self._asks.values() if known.same_as(message))
            self._asks.setdefault(so_far, next(same, message))
            self._seen.update(replies)
            so_far = replies[-1]
        self._ends[so_far] = record
