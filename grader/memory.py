"""What one grading teaches a process that grades many with the same checks.

What is the same for every submission: how a message of calls is written, what the kit's own code
answers, and which replies to a call were found right. A reply that repeats one of these to the
byte, to the same call, need not be taken apart and compared again; nor need a check be run again
that hears nothing new (`grader.dialogue`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from grader.dialogue import Dialogue

if TYPE_CHECKING:
    from grader.report import Cause
    from grader.submission import Case, Outcome

Key = tuple[Any, ...]
MOST_CAUSES = 256


@dataclass(eq=False)
class Message:
    """A message of calls as it crosses the wire, without the number that seeds them.

    right: for each call the replies that were found right, by header and payload in short. drawn:
    the state in which making the cases has left the check's random numbers.
    """

    cases: Sequence[Case]
    observe: Sequence[str]
    text: bytes
    payload: bytes
    right: list[dict[bytes, set[bytes]]] = field(default_factory=list)
    drawn: object = None

    @property
    def replies(self) -> int:
        """How many replies it has: one for every call, and one on privacy if that is observed."""
        return len(self.cases) + ("private" in self.observe)

    def knows(self, place: int, text: bytes, payload: memoryview) -> bool:
        """Whether this reply is known to be right in that place."""
        payloads = self.right[place].get(text) if self.right else None
        return payloads is not None and _short(payload) in payloads

    def learn(self, place: int, text: bytes, payload: memoryview) -> None:
        """Remembers that this reply is right in that place."""
        if not self.right:
            self.right = [{} for _ in self.cases]
        self.right[place].setdefault(text, set()).add(_short(payload))

    def same_as(self, other: Message) -> bool:
        """Whether both ask the same."""
        return (self.text, self.payload) == (other.text, other.payload)


@dataclass(frozen=True)
class Told:
    """What a diagnosis has come to, which may be nothing."""

    cause: Cause | None


class Memory:
    """What is remembered. Once it is closed, only the dialogues go on learning, up to a limit: how
    a check ends follows from what it hears, whoever says it."""

    def __init__(self) -> None:
        self.messages: dict[Key, Message] = {}
        self.answers: dict[Key, list[Outcome]] = {}
        self.dialogues: dict[Key, Dialogue] = {}  # by check
        self.examined: dict[bool, Dialogue] = {}  # of the diagnosis, by whether on an accelerator
        self.causes: dict[Key, Told] = {}  # MOST_CAUSES at most, by failed checks and answers
        self.talks = 0  # messages and what is like them, of all submissions until now
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

    def dialogue(self, key: Key) -> Dialogue | None:
        """What is known of a check; a new one is begun as long as anything is learned."""
        if self.learns:
            return self.dialogues.setdefault(key, Dialogue())
        return self.dialogues.get(key)

    def close(self) -> None:
        """Nothing more is learned of single replies: not from submissions, and not without end."""
        self.learns = False


def _short(payload: memoryview) -> bytes:
    """What tells one payload from another."""
    return blake2b(payload, digest_size=20).digest()
