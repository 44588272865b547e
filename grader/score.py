"""From the recorded cases of a run to a Report: pure functions, no disk, clock or process.

A check earns its points if every one of its cases passed, and nothing otherwise. For sampled
problems the verdict is about the output law and reads it leniently: a list for a tuple costs points
but is no bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from grader.clean import TEXT_LIMIT, clean
from grader.report import (
    Cases,
    Cause,
    CheckResult,
    Environment,
    Extra,
    Failure,
    Isolation,
    Kit,
    Output,
    Report,
    SubmissionFile,
    Verdict,
)

if TYPE_CHECKING:
    from grader.grading import Request
    from grader.problem import Problem

# Failures that are not an answer: the check could not be judged by its values.
ERRORS = frozenset({"exception", "import_error", "exit", "timeout", "memory", "crash", "died",
                    "flood", "malformed"})  # fmt: skip

# The groups whose hints can be about a mistake of a kind (`grader.expect.About`).
FITTING = {
    "form": frozenset({"contract", "device"}),
    "values": frozenset({"values", "edges", "law", "draws", "seeded"}),
    "side effect": frozenset({"side effects", "draws", "seeded"}),
    "no answer": frozenset[str](),
}

# Below this share of differing seeded cases the stated draws are used and a decision is a little
# off; submissions of the right law with other draws differ in 11 to 61 % of them.
SLIGHTLY_OFF = 0.02


def checks(records: Sequence[dict[str, Any]]) -> tuple[CheckResult, ...]:
    """The checks in the order they were first met, each with its cases put together."""
    grouped: dict[tuple[bool, str], list[dict[str, Any]]] = {}
    for record in records:
        facts = record["facts"]
        grouped.setdefault((facts["hidden"], facts["function"]), []).append(record)
    return tuple(_check(group) for group in grouped.values())


def _check(records: list[dict[str, Any]]) -> CheckResult:
    facts = records[0]["facts"]
    hidden = facts["hidden"]
    failed = [r for r in records if r["outcome"] not in ("passed", "skipped")]
    skipped = [r for r in records if r["outcome"] == "skipped"]
    message, first = None, None
    if failed:
        outcome = "error" if failed[0]["result"]["failure"] in ERRORS else "failed"
        message = failed[0]["result"]["told" if hidden else "message"]
        if len(records) > 1 and not hidden:
            name = failed[0]["nodeid"].rpartition("[")[2].removesuffix("]")
            first = name
            message = _about_cases(name, len(failed), len(records), failed[0]["result"]["message"])
        inner = failed[0]["result"]["first"]
        if not hidden and inner and inner != first:
            first = ", ".join(filter(None, [first, inner]))
    elif skipped:
        outcome, message = "not_run", skipped[0]["reason"]
    else:
        outcome = "passed"
    return CheckResult(
        id=facts["function"],
        title=facts["title"],
        group=facts["group"],
        points=facts["points"],
        extra=facts["extra"],
        earned=facts["points"] if outcome == "passed" else 0,
        outcome=outcome,  # type: ignore[arg-type]
        message=clean(message, 3 * TEXT_LIMIT) if message else None,
        hint=facts["hint"] if failed and not hidden and _fits(facts, failed[0]) else None,
        # What a submission could choose by the inputs of a hidden check is not told: how many cases
        # it passes, and how long it takes.
        cases=Cases(
            0 if hidden and outcome != "passed" else _sum(records, "passed"),
            _sum(records, "cases"),
            first,
        ),
        seconds=0.0 if hidden else round(sum(r["seconds"] for r in records), 6),
        hidden=hidden,
        stopped=failed[0]["result"]["failure"] if outcome == "error" else None,
    )


def _fits(facts: dict[str, Any], failed: dict[str, Any]) -> bool:
    """Whether a check's hint is about what went wrong.

    Every check compares whole answers, so one about types also fails for a wrong value, and one
    about side effects for either. An exception says more than any hint.
    """
    return facts["group"] in FITTING[failed["result"]["about"]]


def _about_cases(name: str, failed: int, total: int, message: str) -> str:
    if failed == total:
        return f"with “{name}”, as with all {total} of them:\n{message}"
    return f"{total - failed} of {total} pass; the first that does not is “{name}”:\n{message}"


def failures(records: Sequence[dict[str, Any]]) -> set[str]:
    """The kinds of failures met, where a call gave no value (`grader.report.Failure.kind`)."""
    kinds = {record.get("result", {}).get("failure") for record in records}
    return {kind for kind in kinds if kind is not None}


def no_device(check: CheckResult) -> bool:
    """A device check that this PyTorch cannot run: it earns nothing, and says nothing either.

    So it is of the kit's own files. A learner's may have used up the time for it.
    """
    return check.group == "device" and check.outcome == "not_run"


def verdict(
    sampled: bool, results: Sequence[CheckResult], records: Sequence[dict[str, Any]], loaded: bool
) -> Verdict:
    """What the run says of the submission as a whole."""
    if not loaded:
        return "not_run"
    excused = {r["facts"]["function"] for r in records if r.get("no_device")}
    scored = [
        check
        for check in results
        if not check.extra and not (check.outcome == "not_run" and check.id in excused)
    ]
    if scored and all(check.outcome == "passed" for check in scored):
        return "correct"
    if not sampled:
        return "incorrect"
    law, draws, seeded = (
        [r for r in records if r["facts"]["group"] == group and not r["facts"]["extra"]]
        for group in ("law", "draws", "seeded")
    )
    if _sum(law, "wrong"):
        return "biased"
    if _sum(law, "unlike") or any(record["outcome"] == "skipped" for record in law):
        return "incorrect"  # it raised, answered nothing comparable or was not asked
    differing = _sum(seeded, "wrong")
    decided_otherwise = differing + _sum(draws, "wrong")
    if decided_otherwise and differing < SLIGHTLY_OFF * _sum(seeded, "cases"):
        return "biased"
    if decided_otherwise or _sum(draws + seeded, "drew"):
        return "lossless_other_draws"
    return "incorrect"  # law and draws are right; a promise about form or side effects is not kept


def _sum(records: Sequence[dict[str, Any]], count: str) -> int:
    """How often something was seen over all cases of some checks (`submission.Evidence`)."""
    return sum(record.get("evidence", {}).get(count, 0) for record in records)


def report(
    *,
    problem: Problem,
    request: Request,
    submission: SubmissionFile,
    checks: tuple[CheckResult, ...],
    records: Sequence[dict[str, Any]],
    load_error: Failure | None,
    likely_cause: Cause | None,
    output: Output,
    versions: dict[str, Any],
    isolation: Isolation,
    started_at: datetime,
    seconds: float,
) -> Report:
    """The whole report of one grading."""
    scored = [check for check in checks if not check.extra]
    extra = [check for check in checks if check.extra]
    earned, most = sum(c.earned for c in scored), sum(c.points for c in scored)
    return Report(
        kit=Kit(request.kit.name, request.kit.version),
        problem=problem.slug,
        title=problem.title,
        library=request.library,
        device=request.device,
        submission=submission,
        score=earned,
        max_score=most,
        passed=earned == most and most > 0,
        verdict=verdict(problem.sampled, checks, records, load_error is None),
        seed=request.seed if request.hidden else None,
        extra=Extra(sum(c.earned for c in extra), sum(c.points for c in extra)),
        checks=checks,
        load_error=load_error,
        likely_cause=likely_cause,
        output=output,
        environment=Environment(
            python=versions["python"],
            torch=versions["torch"],
            numpy=versions["numpy"],
            platform=versions["platform"],
        ),
        isolation=isolation,
        started_at=started_at.isoformat(timespec="seconds"),
        seconds=round(seconds, 3),
    )
