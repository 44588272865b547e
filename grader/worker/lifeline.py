"""A process that is not to outlive the one that started it. On both sides of the wire."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def die_with_parent(parent: int) -> None:
    """Lets the kernel end this process as soon as its parent is gone (Linux).

    Asked for after a change of user, which would undo it. A parent that is gone already is not
    noticed by the kernel, so that is looked at here.
    """
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)
