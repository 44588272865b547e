"""Which locks a worker puts on itself before it reads a submission, and how that is said to it.

Used on both sides: `grader.worker.locks` to the grader, plain `locks` in a worker. It imports
nothing of the project.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

# Limits that every worker sets for itself.
CPU_SECONDS = 120  # a backstop only: the clock that counts is the grader's
FILE_BYTES = 1 << 20


@dataclass(frozen=True)
class Locks:
    """One field a lock; `lockdown` puts them on, in its order.

    landlock: files may be read from a list only, none written, no port used (Linux 5.13).
    seccomp: only system calls that computing needs. no_open: from the moment the submission runs,
    not one that takes a path. limits: on processor time, open files (so many), file size,
    processes, core files. memory: address space, by difference. own_user: the first of so many
    (`user_range`) user ids that nobody has; a worker becomes its own one of them (0: it stays who
    it is). capabilities: whatever makes root more than a user is given up. dumpable: True leaves
    the process open to debuggers of the same user. parent_death: it ends when its parent does.
    """

    landlock: bool = False
    seccomp: bool = False
    no_open: bool = False
    limits: bool = True
    open_files: int = 64
    memory: bool = True
    own_user: int = 0
    user_range: int = 0
    capabilities: bool = False
    dumpable: bool = True
    parent_death: bool = False

    def encode(self) -> str:
        """As one word of a command line or a message."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def decode(cls, text: str | bytes) -> Locks:
        """What `encode` wrote."""
        return cls(**json.loads(text))
