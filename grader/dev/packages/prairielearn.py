"""A question for PrairieLearn: a folder for a course's `questions/`, with one problem in it.

    info.json, question.html    the question: its statement, and an editor with the stub
    <slug>.py                   the stub
    tests/                      run.sh, which grades one submission, and what it needs
    image/                      what the image to grade in is built from

The grader is in `tests/`, its libraries are in the image: there is no network while it grades.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import uuid
from pathlib import Path

from grader.dev.packages import contents, place
from grader.dev.packages.place import Written
from grader.kit import Kit
from grader.problem import Problem

_PROGRAMS = ("tests/run.sh", f"tests/{contents.PROGRAM}")
_LEAST, _MOST = 60, 600  # seconds that PrairieLearn may give
_BESIDES = 30  # seconds to load PyTorch in a new container and to run the reference
_SPARE = 10  # seconds to leave a result in, before the platform ends everything
_IMAGE = ("requirements.txt", "constraints.txt")


def write(kit: Kit, out: Path, slug: str | None, *, image: str | None = None) -> Written:
    """Writes the folder `out`, with the problem `slug` or the only one of the kit.

    image: the name of the image to grade in, as a registry knows it. Raises UsageError for a
    problem that cannot be packed, and where `out` cannot be written.
    """
    problem = contents.problem_of(kit, slug)
    image = image or f"{re.sub('[^a-z0-9]+', '-', kit.name.lower()).strip('-')}:{kit.version}"
    seconds = _seconds(problem)
    tests = contents.of(kit, problem, "prairielearn", limit=seconds - _SPARE)
    stub = problem.template(problem.libraries[0])
    held = {
        "info.json": _info(kit, problem, image, seconds),
        "question.html": _question(problem),
        f"{problem.slug}.py": stub.read_bytes(),
        "image/Dockerfile": contents.filled("prairielearn/Dockerfile", slug=problem.slug),
        **{f"image/{name}": tests.pop(name) for name in _IMAGE},
        **{f"tests/{name}": data for name, data in tests.items()},
        "tests/run.sh": contents.filled("prairielearn/run.sh"),
    }
    size = place.write_folder(kit, out, held, _PROGRAMS)
    return Written(
        out,
        (
            f"wrote {out}: {size}, with the solutions of {problem.slug}; no learner may have it",
            f"build the image it is graded in: docker build --platform linux/amd64 "
            f"-t {image} {out / 'image'}",
            "push it to a registry, under a name of yours: --image NAME writes that into info.json",
            f"copy the folder to questions/{problem.slug} of the course, where no .gitignore may "
            "leave out its tests/kit/solutions, and sync course and image",
        ),
    )


def _seconds(problem: Problem) -> int:
    """How long a grading may take: what a submission may, and what is done besides."""
    limits = problem.limits
    return min(max(math.ceil(limits.load + limits.submission) + _BESIDES, _LEAST), _MOST)


def _info(kit: Kit, problem: Problem, image: str, seconds: int) -> bytes:
    info = {
        "uuid": _uuid(kit, problem),
        "title": problem.title,
        "topic": kit.name,
        "type": "v3",
        "singleVariant": True,
        "showCorrectAnswer": False,
        "gradingMethod": "External",
        "externalGradingOptions": {
            "enabled": True,
            "image": image,
            "entrypoint": "/grade/tests/run.sh",
            "timeout": seconds,
            "enableNetworking": False,
        },
    }
    return (json.dumps(info, indent=2) + "\n").encode()


def _uuid(kit: Kit, problem: Problem) -> str:
    """The same for the same problem, however it is changed: PrairieLearn knows it by this."""
    digest = hashlib.sha256(f"{kit.name}/{problem.slug}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _question(problem: Problem) -> bytes:
    statement = problem.page("statement").strip()
    # A literal tag of the element around it, as PrairieLearn has it written.
    statement = statement.replace("markdown>", "markdown#>")
    page = contents.filled("prairielearn/question.html", slug=problem.slug, statement=statement)
    # The page is a Mustache template, in which two braces would be a variable.
    return b"{{=<% %>=}}\n" + page if b"{{" in page else page
