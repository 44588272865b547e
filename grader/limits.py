"""What the shell lets a process have (`ulimit`), against what grading needs."""

from __future__ import annotations

from grader.faults import UsageError
from grader.worker.locks import CPU_SECONDS, FILE_BYTES

# Address space of PyTorch: 2.13 for processors alone maps 582 MiB, and builds for CUDA several GiB,
# so that an address space that is limited at all may be too small.
PYTORCH_MIB = 512


def require(memory: int) -> None:
    """Raises what this process may have to what grading needs; UsageError where it may not be.

    A worker sets limits for itself, which no process may that is allowed less. memory: MiB of
    address space that a problem gives to a submission.
    """
    import resource

    needs = (
        ("t", resource.RLIMIT_CPU, "processor time", CPU_SECONDS, "s", 1),
        ("f", resource.RLIMIT_FSIZE, "the size of files", FILE_BYTES, "KiB", 1 << 10),
        ("v", resource.RLIMIT_AS, "address space", (PYTORCH_MIB + memory) << 20, "MiB", 1 << 20),
    )
    for option, which, name, needed, unit, size in needs:
        soft, hard = resource.getrlimit(which)
        if not 0 <= soft < needed:
            continue
        most = needed if 0 <= hard < needed else hard
        try:
            resource.setrlimit(which, (most, most))
        except (OSError, ValueError):
            raise UsageError(
                f"{name} is limited to {soft // size} {unit} here, and grading needs "
                f"{needed // size} at least: say `ulimit -{option} unlimited` in a new shell"
            ) from None


def doubt() -> str:
    """Why the kit may seem to be broken without being so: a limit that `require` cannot judge.

    Empty where there is none.
    """
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft in (resource.RLIM_INFINITY, -1):
        return ""
    return (
        f"address space is limited to {soft >> 20} MiB here, which may be why: try "
        "`ulimit -v unlimited` in a new shell"
    )
