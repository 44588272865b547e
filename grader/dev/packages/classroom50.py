"""An autograder for Classroom 50: the folder CLASSROOM/autograders/ASSIGNMENT/ of an organisation's
`classroom50` repository. It is published, so there is no secret in it.
"""

from __future__ import annotations

from pathlib import Path

from grader.dev import learner_kit
from grader.dev.packages import learners, place
from grader.dev.packages.contents import filled
from grader.dev.packages.place import Written
from grader.kit import Kit


def write(kit: Kit, out: Path, slug: str | None = None) -> Written:
    """Writes the folder `out` for the problem `slug`, or for the only one of the kit.

    Raises UsageError as `learners` and `place` do.
    """
    problem = learners.only(kit, slug)
    project = learners.project(kit, [problem])
    names = {"slug": problem.slug, "file": learners.file_of(problem)}
    points, not_hidden = learners.points(problem), learners.not_hidden(problem)
    held = {
        "autograder.py": filled("classroom50/autograder.py", **names),
        "kit.tar.gz": learner_kit.tar_gz(project),
        learners.CONSTRAINTS: project[learners.CONSTRAINTS],
        "README.md": filled(
            "classroom50/README.md",
            **names,
            points=points,
            not_hidden=not_hidden or "None of this problem's checks is hidden.",
        ),
    }
    size = place.write_folder(kit, out, held, programs=())
    told = (
        f"wrote {out}: {size}, no solutions",
        f"Learners hand in {names['file']}, for {points} points.",
        "Copy it to CLASSROOM/autograders/ASSIGNMENT/ in your classroom50 repository.",
        not_hidden,
    )
    return Written(out, tuple(filter(None, told)))
