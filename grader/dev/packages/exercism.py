"""A test runner for Exercism: a Docker image that grades a solution to any of a kit's problems.
It needs no network once it is built, and holds no solutions.

    Dockerfile, bin/run.sh      the image, and what Exercism starts in it
    bin/run-in-docker.sh        the same as Exercism does it
    bin/run-tests.sh, tests/    cases with the status they have to get
    kit/                        the grader, with a kit that has no solutions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.dev.packages import learners, place
from grader.dev.packages.contents import filled
from grader.dev.packages.place import Written
from grader.kit import NAME, Kit
from grader.problem import Problem

_IMAGE = f"{NAME}-test-runner"
_PROGRAMS = tuple(f"bin/{name}" for name in ("run.sh", "run-in-docker.sh", "run-tests.sh"))
_NOT_PYTHON = "def (:\n"


def write(kit: Kit, out: Path, slug: str | None = None) -> Written:
    """Writes the folder `out` for the problem `slug`, or for all of the kit.

    Raises UsageError as `learners` and `place` do.
    """
    wanted = learners.chosen(kit, slug)
    size = place.write_folder(kit, out, dict(_files(kit, wanted)), _PROGRAMS)
    exercises = ", ".join(_exercise(each) for each in wanted)
    return Written(
        out,
        (
            f"wrote {out}: {size}, no solutions",
            f"It grades {exercises}. Try it: {out}/bin/run-in-docker.sh "
            f"{_exercise(wanted[0])} SOLUTION_DIR OUTPUT_DIR",
            "Hidden checks are not in it: what is in an image can be read.",
        ),
    )


def _files(kit: Kit, wanted: Sequence[Problem]) -> Iterator[tuple[str, bytes]]:
    for name, data in learners.project(kit, wanted).items():
        yield f"kit/{name}", data
    slugs = ", ".join(f"`{_exercise(each)}`" for each in wanted)
    files = ", ".join(f"`{learners.file_of(each)}`" for each in wanted)
    yield "Dockerfile", filled("exercism/Dockerfile", slugs=slugs.replace("`", ""))
    yield (
        "README.md",
        filled("exercism/README.md", slugs=slugs, files=files, example=_exercise(wanted[0])),
    )
    fault = learners.fault_in_shell(kit, None, "exercism")
    for program in _PROGRAMS:
        yield program, filled(f"exercism/{Path(program).name}", image=_IMAGE, fault=fault)
    for problem in wanted:
        file = learners.file_of(problem)
        for case, status, held in (
            ("missing", "error", None),
            ("not_python", "error", _NOT_PYTHON.encode()),
            ("stub", "fail", learners.stub_of(problem)),
        ):
            folder = f"tests/{problem.slug}/{case}"
            yield f"{folder}/expected_status", f"{status}\n".encode()
            if held is not None:
                yield f"{folder}/{file}", held


def _exercise(problem: Problem) -> str:
    """A problem as Exercism calls it."""
    return problem.slug.replace("_", "-")
