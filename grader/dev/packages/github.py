"""A template repository for GitHub: the stub, a workflow that grades it on every push, and the
grader it installs, with a kit that has no solutions.

    verify.py, README.md, docs/       what a learner works with
    .github/workflows/classroom.yml   grades, and prints the notices that GitHub Classroom reads
    .github/grader/                   the grader, as an archive that the workflow knows by its hash
    .github/INSTRUCTOR.md             what is public then, and what the score is worth
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from grader import export
from grader.dev import learner_kit
from grader.dev.packages import learners, place
from grader.dev.packages.contents import filled
from grader.dev.packages.place import Written
from grader.dev.rules.pages import PAGES, linked
from grader.kit import Kit
from grader.problem import Problem

_GRADER = ".github/grader"
_IGNORED = "__pycache__/\n.venv/\n"


def write(kit: Kit, out: Path, slug: str | None = None, *, reporter: bool = False) -> Written:
    """Writes the folder `out` for the problem `slug`, or for the only one of the kit.

    reporter: leaves the notices to GitHub Classroom's own reporter, as a last step.

    Raises UsageError as `learners` and `place` do.
    """
    problem = learners.only(kit, slug)
    held = dict(_files(kit, problem, reporter))
    size = place.write_folder(kit, out, held, programs=())
    told = (
        f"wrote {out}: {size}, no solutions",
        f"Learners hand in {learners.file_of(problem)}, for {learners.points(problem)} points.",
        "Push it as a template repository; .github/INSTRUCTOR.md says what is public then.",
        learners.not_hidden(problem),
    )
    return Written(out, tuple(filter(None, told)))


def _files(kit: Kit, problem: Problem, reporter: bool) -> Iterator[tuple[str, bytes]]:
    file = learners.file_of(problem)
    project = learners.project(kit, [problem])
    packed = learner_kit.tar_gz(project)
    constraints = project[learners.CONSTRAINTS]
    yield f"{_GRADER}/kit.tar.gz", packed
    yield f"{_GRADER}/{learners.CONSTRAINTS}", constraints
    fault = export.render("github", learners.fault(kit, problem)).strip()
    step = "github/reporter.yml" if reporter else "github/notices.yml"
    grade = filled(step, file=file, slug=problem.slug, fault=fault).decode()
    yield (
        ".github/workflows/classroom.yml",
        filled(
            "github/classroom.yml",
            file=file,
            kit_sha256=hashlib.sha256(packed).hexdigest(),
            constraints_sha256=hashlib.sha256(constraints).hexdigest(),
            grade=grade.rstrip("\n"),
        ),
    )
    yield (
        ".github/INSTRUCTOR.md",
        filled(
            "github/INSTRUCTOR.md",
            slug=problem.slug,
            points=learners.points(problem),
            not_hidden=learners.not_hidden(problem) or "None of this problem's checks is hidden.",
        ),
    )
    yield ".gitignore", _IGNORED.encode()
    yield file, learners.stub_of(problem)
    yield (
        "README.md",
        filled(
            "github/README.md",
            title=problem.title,
            summary=problem.summary,
            entry=problem.entry,
            file=file,
            slug=problem.slug,
            others="".join(_other_stubs(problem)),
            hidden="Hidden checks come later. " if learners.not_hidden(problem) else "",
        ),
    )
    for path in _pages(problem):
        yield f"docs/{path.relative_to(problem.folder).as_posix()}", path.read_bytes()


def _pages(problem: Problem) -> Iterator[Path]:
    """The pages of a problem, and what they show of its folder."""
    found = set()
    for name in PAGES:
        text = problem.page(name)
        found.add(problem.folder / f"{name}.md")
        found |= {path for _, _, path in linked(problem.folder, text) if path.is_file()}
    return (path for path in sorted(found) if path.is_relative_to(problem.folder))


def _other_stubs(problem: Problem) -> Iterator[str]:
    file = learners.file_of(problem)
    for library in problem.libraries[1:]:
        yield (
            f"\n\nTo write it with {learners.NAMES[library]}, begin again: "
            f"`rm {file} && .venv/bin/grade start {problem.slug} {file} --library {library}`."
        )
