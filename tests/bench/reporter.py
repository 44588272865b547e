"""GitHub Classroom's own reporter on our step outputs: does it give the grade that ours gives?

    python tests/bench/reporter.py CHECKOUT

CHECKOUT is the repository classroom-resources/autograding-grading-reporter, after `npm install`
where it has `src/main.js`, or as it is with its `dist/main.js`. It runs with Node on the step
output of every case of `tests/golden`, with the variables of the workflow that `grade dev export
github --reporter` writes. For each case one line: the exit code, and its two notices. Exits with 1
if these are not the ones that `--format github` prints, or if anything else it prints is a command.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.exports import commands  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("checkout", type=Path)
    checkout = parser.parse_args().checkout.resolve()
    program = next(
        (
            checkout / name
            for name in ("src/main.js", "dist/main.js")
            if (checkout / name).is_file()
        ),
        None,
    )
    if program is None:
        sys.exit(f"{checkout}: neither src/main.js nor dist/main.js is there")
    differing = 0
    for case in sorted(path.parent for path in (ROOT / "tests/golden").glob("*/classroom.txt")):
        done = report(program, (case / "classroom.txt").read_text(encoding="utf-8"))
        ours = commands((case / "github.txt").read_text(encoding="utf-8"))
        theirs = commands(done.stdout)
        notices = [found for found in theirs if found[0] == "notice"]
        others = [found for found in theirs if found[0] not in ("notice", "error")]
        same = notices == [found for found in ours if found[0] == "notice"] and not others
        differing += not same
        told = "; ".join(text for _, _, text in notices) or "no notice"
        failed = "; ".join(text for name, _, text in theirs if name == "error") or "no error"
        word = "same" if same else "OTHER"
        print(f"{word:6}{case.name:14} exit {done.returncode}  {told}  ({failed})")
    return 1 if differing else 0


def report(program: Path, output: str) -> subprocess.CompletedProcess[str]:
    """The reporter's step, told the output of a step called `kit`."""
    return subprocess.run(
        ["node", str(program)],
        env={
            "PATH": os.environ["PATH"],
            "INPUT_RUNNERS": "kit",
            "KIT_RESULTS": output.removeprefix("result=").strip(),
        },
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


if __name__ == "__main__":
    sys.exit(main())
