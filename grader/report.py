"""What one grading found, as frozen values: the only thing a screen or an exporter reads.

It holds no paths of the machine and no text that has not been cleaned. Building it from a test run
is `grader.score`; writing it is `to_json` here and the renderers elsewhere.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

SCHEMA_VERSION = 1

Outcome = Literal["passed", "failed", "error", "not_run"]
Verdict = Literal["correct", "incorrect", "lossless_other_draws", "biased", "not_run"]


@dataclass(frozen=True)
class Cases:
    """How many cases of a check passed, and the first that did not (public checks only)."""

    passed: int
    total: int
    first_failure: str | None = None


@dataclass(frozen=True)
class CheckResult:
    """One check: `passed` earns all its points, every other outcome none.

    `failed` is a wrong answer, `error` a submission that raised, hung or died during the check,
    `not_run` a check that could not be tried (the reason is the message). stopped: of an error, the
    kind of `Failure` that the first case met with.
    """

    id: str
    title: str
    group: str
    points: int
    extra: bool
    earned: int
    outcome: Outcome
    message: str | None
    hint: str | None
    cases: Cases
    seconds: float
    hidden: bool
    stopped: str | None = None


@dataclass(frozen=True)
class Kit:
    name: str
    version: str


@dataclass(frozen=True)
class SubmissionFile:
    """The graded file: its name without folders, the SHA-256 and the size of its bytes."""

    file: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Extra:
    """Extra credit, told beside the score and never part of its maximum."""

    earned: int
    max: int


@dataclass(frozen=True)
class Failure:
    """Why a submission could not be loaded or a call gave no value.

    kind: syntax_error, import_error, missing_entry, not_callable, wrong_arity, exception, exit,
    timeout, memory, crash, died, flood, malformed, too_large. `traceback` holds the learner's own
    lines only.
    """

    kind: str
    message: str
    traceback: str | None = None


@dataclass(frozen=True)
class Output:
    """What the submission printed, cleaned; `truncated` when more was printed than is kept."""

    text: str
    truncated: bool


@dataclass(frozen=True)
class Cause:
    """What a wrong submission seems to do, in a sentence for whoever wrote it.

    hint: the number of the problem's hint to read next, where one is about it.
    """

    sentence: str
    hint: int | None = None


@dataclass(frozen=True)
class Environment:
    python: str
    torch: str | None
    numpy: str
    platform: str


@dataclass(frozen=True)
class Isolation:
    """What kept the submission apart: the level's name and the layers that were in force.

    landlock: its version, 0 where it is not in force. canary: "passed" where a process has shown
    that the locks bite, "not tried" where there are none to try. missing: what this machine cannot
    do, or was told not to, in words. on_trust: an instructor waived the level that hidden checks
    ask for.
    """

    level: str
    layers: tuple[str, ...]
    landlock: int = 0
    canary: str = "not tried"
    missing: tuple[str, ...] = ()
    on_trust: bool = False


@dataclass(frozen=True)
class Report:
    """One grading. `seed` is the instructor's: None where no hidden checks ran."""

    kit: Kit
    problem: str
    title: str
    library: str
    device: str
    submission: SubmissionFile
    score: int
    max_score: int
    passed: bool
    verdict: Verdict
    seed: int | None
    extra: Extra
    checks: tuple[CheckResult, ...]
    load_error: Failure | None
    likely_cause: Cause | None
    output: Output
    environment: Environment
    isolation: Isolation
    started_at: str
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The report as the versioned score document (`grader/schema/score-v1.json`)."""
        return {"schema_version": SCHEMA_VERSION, "error": None, **asdict(self)}


@dataclass(frozen=True)
class FaultReport:
    """A grading that the kit itself broke: written instead of a score, never beside one."""

    kit: Kit
    problem: str | None
    message: str
    check: str | None
    started_at: str

    def as_dict(self) -> dict[str, Any]:
        """The fault as a document of the same schema: an `error`, and no score at all."""
        return {
            "schema_version": SCHEMA_VERSION,
            "error": {"message": self.message, "check": self.check},
            "kit": asdict(self.kit),
            "problem": self.problem,
            "started_at": self.started_at,
        }


def to_json(report: Report | FaultReport) -> str:
    """The report as strict JSON: ASCII, no NaN, one trailing newline."""
    text = json.dumps(report.as_dict(), allow_nan=False, ensure_ascii=True, indent=2) + "\n"
    # Only strings hold it, and a CI runner that prints the document would take it for a command.
    return text.replace("##", "#\\u0023")
