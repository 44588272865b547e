"""What one grading teaches a process that grades many with the same checks.

Three things that are the same for every submission: how a message of calls is written, what the
kit's own code answers, and which replies to a call were found right. A reply that repeats one of
these to the byte, to the same call, need not be taken apart and compared again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from grader.submission import Case, Outcome

Key = tuple[Any, ...]


@dataclass(eq=False)
class Message:
    """A message of calls as it crosses the wire, without the number that seeds them.

    right: for each call the replies that were found right, by header and then by payload. drawn:
    the state in which making the cases has left the check's random numbers.
    """

    cases: Sequence[Case]
    observe: Sequence[str]
    text: bytes
    payload: bytes
    right: list[dict[bytes, set[bytes]]] = field(default_factory=list)
    drawn: object = None

    def known(self, index: int) -> dict[bytes, set[bytes]]:
        """The right replies to that call, as far as they are known."""
        return self.right[index] if self.right else {}

    def learn(self, index: int, reply: Reply) -> None:
        """Remembers that this reply to that call is right."""
        if not self.right:
            self.right = [{} for _ in self.cases]
        self.right[index].setdefault(reply.text, set()).add(reply.payload)


class Reply(NamedTuple):
    """What a reply is known by: its header, and its payload in short."""

    text: bytes
    payload: bytes


class Memory:
    """What is remembered: empty at first, and as it is once it is closed."""

    def __init__(self) -> None:
        self.messages: dict[Key, Message] = {}
        self.answers: dict[Key, list[Outcome]] = {}
        self.learns = True
        self.rng: random.Random | None = None  # of the check that is running

    def keep(self, key: Key, message: Message) -> None:
        """Remembers a message whose cases have just been made."""
        if self.learns:
            message.drawn = self.rng.getstate() if self.rng else None
            self.messages[key] = message

    def find(self, key: Key) -> Message | None:
        """A message that is remembered, with the random numbers as if it had been made now."""
        found = self.messages.get(key)
        if found is not None and self.rng is not None:
            self.rng.setstate(found.drawn)  # type: ignore[arg-type]
        return found

    def close(self) -> None:
        """Nothing more is learned: not from submissions, and not without end."""
        self.learns = False


def short(payload: memoryview) -> bytes:
    """What tells one payload from another."""
    return blake2b(payload, digest_size=20).digest()
