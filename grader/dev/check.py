"""Whether a kit is sound: everything its graders are trusted for, tried, and what fails told.

The files of a problem agree with each other; the reference has full marks with several seeds; the
untouched stub and a function that returns None load and have nothing; every wrong file fails
exactly the checks it names, every right file has full marks, every stream file its verdict; every
check is failed by a wrong file that passes another (one that fails all shows nothing of any); what
a learner is told looks like what it is; nothing of `solutions/` is handed out.
"""

from __future__ import annotations

import ast
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import problem as problems
from grader import submission_file
from grader.dev import diagnose
from grader.dev import known as knowns
from grader.dev.complaints import Complaint
from grader.dev.known import Known
from grader.dev.survey import Result, by_file, lost
from grader.faults import KitFault, UsageError
from grader.kit import Kit
from grader.lanes import Job, grade_all
from grader.problem import Problem
from grader.report import FaultReport, Report
from grader.score import no_device
from grader.submission_file import SubmissionSource

SEEDS = (1, 20_260, 4_294_967_295)  # the seed is hashed: any will do, and these are kept
LEAST_SEEDS_OF_A_REFERENCE = 3

RULES = {
    "files": "the files of a problem agree with each other",
    "stray file": "no file lies where no rule puts it",
    "known file": "every known file tells its story",
    "reference": "the reference has full marks with every seed",
    "stub": "the untouched stub loads and has nothing",
    "nothing": "a function that returns None loads and has nothing",
    "right": "every right file has full marks",
    "stream": "every stream file has its verdict",
    "wrong": "every wrong file loses points",
    "fails": "every wrong file fails exactly the checks it names",
    "dead check": "every check is failed by a wrong file that passes another",
    "diagnosis": "what a learner is told to have done is what the file does",
    "leak": "nothing of solutions/ is handed out",
}

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Verdict:
    """What a check of the kit found. rules: those that were tried, by name."""

    problems: tuple[str, ...]
    complaints: tuple[Complaint, ...]
    notes: tuple[str, ...]
    results: tuple[Result, ...]
    rules: tuple[str, ...]
    seconds: float

    @property
    def sound(self) -> bool:
        return not self.complaints


def seeds_of(number: int) -> tuple[int, ...]:
    """So many seeds, the same ones every time."""
    return tuple(SEEDS[i] if i < len(SEEDS) else 7919 * i for i in range(number))


def check(
    kit: Kit,
    slugs: Sequence[str],
    *,
    seeds: int = 1,
    lanes: int | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Tries every rule on the problems named.

    seeds: with how many each known file is graded; a reference with three at least. progress: told
    how many gradings are done, and of how many.
    """
    from grader.dev import leaks, mutants, rules

    began = time.monotonic()
    complaints: list[Complaint] = [*rules.strays(kit)]
    notes: list[str] = []
    readable: list[tuple[Problem, list[Known]]] = []
    broken: set[str] = set()
    for slug in slugs:
        of_files = rules.static(kit, slug)
        complaints += of_files
        broken |= {slug} if of_files else set()
        try:
            problem = problems.load(kit, slug)
            files, found = knowns.known_files(kit, problem)
        except KitFault:
            continue  # told by the rules of its files, and nothing more can be said of it
        complaints += [*found, *diagnose.stale(kit, problem, files)]
        complaints += mutants.Record.read(problem).complaints
        for library in problem.libraries:
            for path in (problem.solution(library), problem.template(library)):
                if path is not None and (why := _unfit(path)):
                    name = path.relative_to(kit.root).as_posix()
                    complaints.append(
                        Complaint(name, 1, "files", f"cannot be graded: {why}", "mend it")
                    )
        if diagnose.readable(problem):
            readable.append((problem, files))
    own = [each for problem, _ in readable for each in _own_gradings(kit, problem, seeds)]
    known = [each for problem, files in readable for each in _known_gradings(problem, files, seeds)]
    done = _Progress(progress, len(own) + len(known))
    unfit: set[str] = set()
    for grading, report in _graded(kit, own, lanes, done):
        found = list(_of_own(kit, grading, report))
        if isinstance(report, FaultReport):
            unfit.add(grading.job.slug)
            if grading.job.slug in broken:
                continue  # what is said of its files already is why
        complaints += found
        if found and grading.rule == "reference":
            unfit.add(grading.job.slug)
    # Where the reference is wrong every grading would say so, and nothing else.
    known = [grading for grading in known if grading.job.slug not in unfit]
    results = _results(_graded(kit, known, lanes, done))
    heard = {problem.slug: {known.hear for known in files} for problem, files in readable}
    for file, group in by_file(results):
        complaints += _of_known(file, group, heard[file.slug])
    for problem, _ in readable:
        if problem.slug in unfit:
            first = "files" if problem.slug in broken else "reference"
            notes.append(f"{problem.slug}: known files were not graded; mend the {first} first")
            continue
        mine = [result for result in results if result.known.slug == problem.slug]
        complaints += _dead_checks(kit, problem, mine)
    leaked, said = leaks.leaks(kit)
    return Verdict(
        problems=tuple(slugs),
        complaints=tuple(sorted({*complaints, *leaked})),
        notes=(*notes, *said),
        results=tuple(results),
        rules=tuple(RULES),
        seconds=time.monotonic() - began,
    )


def graded(
    kit: Kit,
    slugs: Sequence[str],
    *,
    seeds: int = 1,
    lanes: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """The known files of the problems named, graded, and nothing judged."""
    gradings: list[_Grading] = []
    for slug in slugs:
        problem = problems.load(kit, slug)
        files, _ = knowns.known_files(kit, problem)
        gradings += _known_gradings(problem, files, seeds)
    done = _Progress(progress, len(gradings))
    return _results(_graded(kit, gradings, lanes, done))


# ---- what is graded


@dataclass(frozen=True)
class _Grading:
    """One grading: of a known file, or of a file that every problem has."""

    rule: str
    file: str
    job: Job
    known: Known | None = None


def _own_gradings(kit: Kit, problem: Problem, seeds: int) -> Iterator[_Grading]:
    """The references, the stubs, and functions that return None."""
    for library in problem.libraries:
        path, stub = problem.solution(library), problem.template(library)
        if any(_unfit(each) for each in (path, stub)):
            continue  # told already
        if path is not None:
            source = submission_file.read(path)
            for seed in seeds_of(max(seeds, LEAST_SEEDS_OF_A_REFERENCE)):
                job = Job(problem.slug, source, library, seed)
                yield _Grading("reference", path.relative_to(kit.root).as_posix(), job)
        if stub.is_file():
            source = submission_file.read(stub)
            name = stub.relative_to(kit.root).as_posix()
            yield _Grading("stub", name, Job(problem.slug, source, library, SEEDS[0]))
            if (empty := returns_none(source, problem.entry)) is not None:
                yield _Grading("nothing", name, Job(problem.slug, empty, library, SEEDS[0]))


def _unfit(path: Path | None) -> str | None:
    """Why a file could not be handed in, or None."""
    try:
        if path is not None and path.is_file():
            submission_file.read(path)
    except UsageError as error:
        return str(error).removeprefix(f"{path}: ")
    return None


def _known_gradings(problem: Problem, files: Sequence[Known], seeds: int) -> Iterator[_Grading]:
    """Every known file with every seed."""
    for known in files:
        source = submission_file.read(known.path)
        for seed in seeds_of(seeds):
            job = Job(problem.slug, source, known.library, seed)
            yield _Grading(known.kind, known.file, job, known)


class _Progress:
    """Counts gradings for whoever wants to be told."""

    def __init__(self, tell: Progress | None, total: int) -> None:
        self._tell, self._total, self._done = tell, total, 0

    def step(self) -> None:
        self._done += 1
        if self._tell:
            self._tell(self._done, self._total)


def _results(graded: Sequence[tuple[_Grading, Report | FaultReport]]) -> list[Result]:
    return [
        Result(grading.known, grading.job.seed, report)
        for grading, report in graded
        if grading.known
    ]


def _graded(
    kit: Kit, gradings: Sequence[_Grading], lanes: int | None, done: _Progress
) -> list[tuple[_Grading, Report | FaultReport]]:
    """The gradings with what came out, in their order."""
    reports: dict[int, Report | FaultReport] = {}
    for place, report in grade_all(kit, [grading.job for grading in gradings], lanes):
        reports[place] = report
        done.step()
    return [(grading, reports[place]) for place, grading in enumerate(gradings)]


def returns_none(stub: SubmissionSource, entry: str) -> SubmissionSource | None:
    """The stub with a body that returns None; None where the stub does not define its function."""
    try:
        tree = ast.parse(stub.text)
    except (SyntaxError, ValueError):
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == entry:
            node.body = [ast.Return(ast.Constant(None))]
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            digest = hashlib.sha256(text.encode()).hexdigest()
            return SubmissionSource("returns_none.py", text, digest, len(text.encode()))
    return None


# ---- what follows


def _of_own(kit: Kit, grading: _Grading, report: Report | FaultReport) -> Iterator[Complaint]:
    """The reference, the stub, and a function that returns None."""

    def complain(text: str, cure: str) -> Complaint:
        return Complaint(grading.file, 1, grading.rule, text, cure)

    if isinstance(report, FaultReport):
        file, line = _place(kit, grading, report.check)
        first = report.message.partition("\n")[0]
        cure = "mend that check, or the reference; nobody can be graded before"
        yield Complaint(file, line, grading.rule, f"the kit is at fault: {first}", cure)
        return
    if grading.rule == "reference":
        if missed := lost(report):
            yield complain(
                f"the reference fails {_names(missed)} with seed {grading.job.seed}",
                "mend the reference, or the checks that ask for what it need not do",
            )
        return
    what = "the untouched stub" if grading.rule == "stub" else "a function that returns None"
    if report.load_error is not None:
        yield complain(
            f"{what} does not load: {report.load_error.message}",
            "a stub must load as it is handed out; mend it",
        )
    elif report.score or report.extra.earned:
        paid = [check.id for check in report.checks if check.earned]
        yield complain(
            f"{what} earns {report.score + report.extra.earned} points by {_names(paid)}",
            "let that check compare a whole answer, which a function that does nothing cannot give",
        )


def _of_known(
    known: Known, group: Sequence[Result], sentences: set[str | None]
) -> Iterator[Complaint]:
    """Everything that one known file must show, with every seed.

    sentences: those of all known files of the problem.
    """

    def complain(rule: str, field: str, text: str, cure: str) -> Complaint:
        line = known.lines.get(field, known.lines.get("story", 1))
        return Complaint(known.file, line, rule, text, cure)

    reports: list[tuple[Result, Report]] = []
    for result in group:
        if isinstance(result.report, FaultReport):
            yield complain(
                known.kind,
                "story",
                f"could not be graded with seed {result.seed}: {result.report.message}",
                "mend the check it names; a file must never break the kit",
            )
        else:
            reports.append((result, result.report))
    for result, report in reports:
        seed = f"with seed {result.seed}"
        if report.load_error is not None:
            yield complain(
                known.kind,
                "story",
                f"does not load: {report.load_error.message}",
                "mend it: a file that is never called shows nothing of a check",
            )
            return
        scored = {c.id for c in report.checks if not c.extra} & result.lost()
        if known.kind == "right" and scored:
            yield complain(
                "right",
                "story",
                f"fails {_names(scored)} {seed}, though it is right",
                "relax what these checks ask for, or move the file to wrong/",
            )
        if known.kind == "stream" and report.verdict != "lossless_other_draws":
            yield complain(
                "stream",
                "story",
                f"has the verdict {report.verdict} {seed}, not lossless_other_draws",
                "mend the checks of the law that it fails, or move the file to wrong/",
            )
        if known.kind == "wrong" and not scored:
            yield complain(
                "wrong",
                "story",
                f"has full marks {seed}: this fault is not seen",
                "add a case that shows it to a check, or move the file to right/",
            )
        yield from _cause(known, report, sentences, seed, complain)
    if known.kind == "wrong" and known.fails is not None and reports:
        yield from _exactly(known, reports, complain)


_Complain = Callable[[str, str, str, str], Complaint]


def _exactly(
    known: Known, reports: Sequence[tuple[Result, Report]], complain: _Complain
) -> Iterator[Complaint]:
    assert known.fails is not None
    seen = [result.lost() for result, _ in reports]
    untried = {c.id for _, report in reports for c in report.checks if no_device(c)}
    always, ever = frozenset.intersection(*seen), frozenset.union(*seen)
    if lucky := ever - always:
        seeds = [str(result.seed) for result, _ in reports if lucky & result.lost()]
        yield complain(
            "fails",
            "fails",
            f"fails {_names(lucky)} only with {'seed' if len(seeds) == 1 else 'seeds'} "
            f"{', '.join(seeds)}",
            "let these checks ask for enough of the inputs that show the fault, whatever the seed",
        )
    cure = (
        "correct the line, or mend the check; "
        f"`grade dev check {known.slug} --write-fails` writes what is seen"
    )
    if unnamed := always - known.fails:
        yield complain("fails", "fails", f"fails {_names(unnamed)} as well, unnamed", cure)
    if passed := known.fails - ever - untried:
        yield complain("fails", "fails", f"passes {_names(passed)}, named in `fails:`", cure)


def _cause(
    known: Known, report: Report, sentences: set[str | None], seed: str, complain: _Complain
) -> Iterator[Complaint]:
    """A sentence of another file is an accusation; what answers show by themselves is none."""
    told = report.likely_cause
    if told is None:
        return
    if known.kind == "right":
        yield complain(
            "diagnosis",
            "story",
            f"is right, and accused {seed}: “{told.sentence}”",
            "add an input to diagnosis.py that tells it from what it was taken for",
        )
    elif told.sentence != known.hear and told.sentence in sentences:
        yield complain(
            "diagnosis",
            "hear",
            f"is taken for something else {seed}: “{told.sentence}”",
            "add an input to diagnosis.py that tells the two apart, or give both one sentence; "
            f"then `grade dev diagnose {known.slug}`",
        )


def _place(kit: Kit, grading: _Grading, check: str | None) -> tuple[str, int]:
    """Where a check stands; the graded file where it is not the fault of one."""
    for folder, name in (("problems", "checks.py"), ("solutions", "hidden.py")):
        path = kit.root / folder / grading.job.slug / name
        for line, text in enumerate(path.read_text("utf-8").splitlines() if path.is_file() else []):
            if check is not None and text.startswith(f"def {check}("):
                return path.relative_to(kit.root).as_posix(), line + 1
    return grading.file, 1


def _dead_checks(kit: Kit, problem: Problem, results: Sequence[Result]) -> Iterator[Complaint]:
    for library in problem.libraries:
        killed = _killers(problem, results, library)
        for path in (problem.checks, *([problem.hidden] if problem.hidden else [])):
            for name, line in _defined(path, library):
                files = killed.get(name, {})
                if not any(files.values()):
                    but = " but such as fail every check" if files else ""
                    yield Complaint(
                        path.relative_to(kit.root).as_posix(),
                        line,
                        "dead check",
                        f"{name} is failed by no wrong file in {library}{but}",
                        f"add a file to solutions/{problem.slug}/wrong/ that it is there to catch, "
                        "or delete the check",
                    )


def _killers(
    problem: Problem, results: Sequence[Result], library: str
) -> dict[str, dict[str, bool]]:
    """For each check the wrong files that fail it with every seed; True where they pass another."""
    killers: dict[str, dict[str, bool]] = {}
    wrong = [r for r in results if r.known.kind == "wrong" and r.known.library == library]
    for known, group in by_file(wrong):
        reports = [r.report for r in group if isinstance(r.report, Report)]
        if not reports:
            continue
        always = frozenset.intersection(*(lost(report) for report in reports))
        every = {check.id for check in reports[0].checks if not no_device(check)}
        for check in reports[0].checks:
            files = killers.setdefault(check.id, {})
            # Where a device check cannot be run, the file's own word has to do.
            if check.id in always or (no_device(check) and check.id in (known.fails or ())):
                files[known.name] = always != every or len(every) == 1
    return killers


def _defined(path: Path, library: str) -> Iterator[tuple[str, int]]:
    """The checks of a file for a library, each with its line."""
    from grader.checkrun import declared

    names = set(declared(path, library))
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            yield node.name, node.lineno


def _names(checks: frozenset[str] | set[str] | Sequence[str]) -> str:
    return ", ".join(sorted(checks))
