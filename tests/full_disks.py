"""Folders for results on disks where something is missing, and what a script leaves in them."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Disk:
    """options: of the mount. planted: whether the earlier result that lies there holds something,
    or is empty. filled: whether all that is free is taken then. read_only: nothing can be written
    or removed any more.

    holds_fault: whether there is room for a result that says that nothing was graded, once the
    earlier one is gone. holds_result: whether there is for one that says more.
    """

    options: str
    planted: bool = True
    filled: bool = False
    read_only: bool = False
    holds_fault: bool = True
    holds_result: bool = False


# The folder itself is one file of the disk.
DISKS = {
    "with room": Disk("size=1m", holds_result=True),
    "without a file to spare": Disk("nr_inodes=2"),
    "with one file to spare": Disk("nr_inodes=3"),
    "with two files to spare": Disk("nr_inodes=4", holds_result=True),
    "without a block to spare": Disk("size=16k", filled=True),
    "without a block at all": Disk("size=16k", planted=False, filled=True, holds_fault=False),
    "read-only": Disk("size=1m", read_only=True, holds_fault=False),
}
_ON_IT = """\
mount -t tmpfs -o "mode=755,$OPTIONS" tmpfs "$PLACE" || exit 99
printf %s "$PLANTED" >"$PLACE/results.json"
[ -z "$FILLED" ] || dd if=/dev/zero of="$PLACE/ballast" bs=4k 2>/dev/null
[ -z "$READ_ONLY" ] || mount -o remount,ro "$PLACE"
"$@"
code=$?
[ -n "$READ_ONLY" ] || ! [ -e "$PLACE/results.json" ] || cp "$PLACE/results.json" "$KEPT/"
ls -A "$PLACE" >"$KEPT/names"
exit $code
"""


@dataclass(frozen=True)
class Left:
    """What a script left: its exit code, its result (None: none), and what it told as errors."""

    code: int
    result: str | None
    told: str


def left_by(
    command: list[str], environment: dict[str, str], disk: str, place: Path, planted: str
) -> Left:
    """Runs a command with an empty folder on such a disk, on which there is an earlier result.

    On a disk that can only be read that one stays, and counts as none.
    """
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).returncode:
        pytest.skip("no mounts of its own can be made here")
    made = DISKS[disk]
    with tempfile.TemporaryDirectory() as kept:
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", _ON_IT, "bash", *command],
            env={
                **environment,
                "OPTIONS": made.options,
                "PLACE": str(place),
                "PLANTED": planted if made.planted else "",
                "FILLED": "yes" if made.filled else "",
                "READ_ONLY": "yes" if made.read_only else "",
                "KEPT": kept,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        assert done.returncode != 99, done.stderr
        names = {*Path(kept, "names").read_text(encoding="utf-8").split()}
        found = Path(kept, "results.json")
        result = found.read_text(encoding="utf-8") if found.exists() else None
    assert names - {"ballast"} <= {"results.json"}, names
    return Left(done.returncode, result, done.stderr)
