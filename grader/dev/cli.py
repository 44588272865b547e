"""`grade dev …`: the commands of those who keep a kit. Reads the request, calls, prints.

It is loaded when it is asked for: none of it may slow a learner's command down.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.dev.export_cli import export
from grader.faults import UsageError

if TYPE_CHECKING:
    from grader.dev.complaints import Complaint
    from grader.dev.matrix import Matrix
    from grader.dev.survey import Result
    from grader.kit import Kit
    from grader.problem import Problem

SOUND, COMPLAINTS = 0, 1
_MOST_NAMES = 5

_CODES = """\b
Exit codes:
  0  all is well      1  there is a complaint
  2  the request is at fault      3  the grader is broken"""

_PATH = click.Path(path_type=Path)
_lanes = click.option(
    "--jobs", type=click.IntRange(1), help="Gradings side by side. Default: one a core."
)
_slugs = click.argument("slugs", metavar="[SLUG]...", nargs=-1)


@click.group(name="dev", epilog=_CODES)
def dev() -> None:
    """Keep a kit: prove its graders, add problems, hand it out."""


@dev.command("check", epilog=_CODES)
@_slugs
@click.option(
    "--seeds",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Grade every known file with so many seeds (a reference with 3 at least).",
)
@_lanes
@click.option("--junit", type=_PATH, metavar="PATH", help="Write the outcome as JUnit XML.")
@click.option("--matrix", "page", type=_PATH, metavar="PATH", help="Write the matrix as HTML.")
@click.option(
    "--github",
    is_flag=True,
    help="Annotate the files at fault, and write the step summary of GitHub Actions.",
)
@click.option(
    "--write-fails",
    is_flag=True,
    help="Write what is observed into the `fails:` lines of wrong files, for you to read.",
)
@click.pass_obj
def _check(
    folder: Path | None,
    slugs: tuple[str, ...],
    seeds: int,
    jobs: int | None,
    junit: Path | None,
    page: Path | None,
    github: bool,
    write_fails: bool,
) -> int:
    """Prove that the kit is sound: every reference right, every grader seen to reject.

    Tries SLUG alone where one is given, else all problems. Each complaint names a file, a line and
    what mends it.
    """
    from grader.dev import check

    kit, chosen = _chosen(folder, slugs)
    _try(kit, junit, page)
    verdict = check.check(kit, chosen, seeds=seeds, lanes=jobs, progress=_progress("grading"))
    if write_fails:
        from grader.dev import fails

        written = fails.write(verdict.results)
        for file in written:
            _say(f"wrote {file}")
        click.echo(f"{len(written)} files were changed; read them, then check again")
        others = [c for c in verdict.complaints if c.rule != "fails" and c.file not in written]
        for complaint in others:
            _say(str(complaint))
        return COMPLAINTS if others else SOUND
    for complaint in verdict.complaints:
        _say(str(complaint))
    for note in verdict.notes:
        _say(f"note: {note}")
    if junit is not None:
        from grader.dev import junit as junit_xml

        _write(junit, junit_xml.render(verdict))
    if page is not None:
        from grader.dev import matrix_page

        _write(page, matrix_page.render(_matrices(kit, chosen, verdict.results)))
    if github:
        _tell_github(kit, chosen, verdict)
    click.echo(
        f"{', '.join(chosen)}: {'sound' if verdict.sound else _count(verdict.complaints)}; "
        f"{len(verdict.rules)} rules, {len(verdict.results)} gradings of known files, "
        f"{verdict.seconds:.0f} s"
    )
    return SOUND if verdict.sound else COMPLAINTS


@dev.command("matrix", epilog=_CODES)
@_slugs
@click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True)
@_lanes
@click.option("--json", "json_path", type=_PATH, metavar="PATH|-", help="Write it as JSON.")
@click.option("--html", type=_PATH, metavar="PATH", help="Write it as one HTML page.")
@click.option("--grid", is_flag=True, help="Show every file against every check.")
@click.pass_obj
def _matrix(
    folder: Path | None,
    slugs: tuple[str, ...],
    seeds: int,
    jobs: int | None,
    json_path: Path | None,
    html: Path | None,
    grid: bool,
) -> int:
    """Show which known-wrong file fails which check."""
    from grader.dev import check, matrix

    kit, chosen = _chosen(folder, slugs)
    _try(kit, html, None if json_path == Path("-") else json_path)
    results = check.graded(kit, chosen, seeds=seeds, lanes=jobs, progress=_progress("grading"))
    made = _matrices(kit, chosen, results)
    if json_path is not None:
        text = matrix.to_json(made)
        if json_path == Path("-"):
            click.echo(text, nl=False)
        else:
            _write(json_path, text)
    if html is not None:
        from grader.dev import matrix_page

        _write(html, matrix_page.render(made))
    if json_path != Path("-"):
        _show(made, grid)
    return SOUND if all(each.sound for each in made) else COMPLAINTS


@dev.command("mutants", epilog=_CODES)
@_slugs
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True)
@_lanes
@click.pass_obj
def _mutants(folder: Path | None, slugs: tuple[str, ...], seed: int, jobs: int | None) -> int:
    """Grade small changes of the references: each has to lose points, or be explained."""
    from grader.dev import mutants

    kit, chosen = _chosen(folder, slugs)
    complaints: list[Complaint] = []
    for problem in _problems(kit, chosen):
        outcome = mutants.examine(kit, problem, seed, jobs, _progress(problem.slug))
        for line in outcome.lines():
            _say(line)
        complaints += outcome.complaints
    for complaint in complaints:
        _say(str(complaint))
    return COMPLAINTS if complaints else SOUND


@dev.command("diagnose", epilog=_CODES)
@_slugs
@click.pass_obj
def _diagnose(folder: Path | None, slugs: tuple[str, ...]) -> int:
    """Write diagnosis.json: what every known-wrong file answers, to recognise it by."""
    from grader.dev import diagnose

    kit, chosen = _chosen(folder, slugs)
    for problem in _problems(kit, chosen):
        if not (problem.folder / "diagnosis.py").is_file():
            click.echo(f"{problem.slug}: has no diagnosis.py, so nothing is diagnosed")
            continue
        written = diagnose.write(kit, problem)
        for known, why in written.left_out:
            click.echo(f"  not recognised: {known.file}: {why}")
        click.echo(f"{problem.slug}: {written.stored} known files can be recognised")
    return SOUND


@dev.command("new", epilog=_CODES)
@click.argument("slug")
@click.option("--title", help="One line; made from SLUG unless given.")
@click.pass_obj
def _new(folder: Path | None, slug: str, title: str | None) -> int:
    """Write a new problem SLUG: small, complete and passing, to be edited file by file."""
    from grader.dev import scaffold

    kit = scaffold.kit_in(folder)
    for path in scaffold.write(kit, slug, title):
        click.echo(f"wrote {_shown(path)}")
    option = f"--kit {_shown(kit.root)} " if folder else ""
    click.echo(
        "\nLines with AUTHOR: are notes to you; put your own problem in the place of this one."
    )
    click.echo(f"It is sound as it stands: grade {option}dev check {slug}")
    return SOUND


@dev.command("kit", epilog=_CODES)
@click.argument("out", type=_PATH)
@click.pass_obj
def _learners_kit(folder: Path | None, out: Path) -> int:
    """Write the learner's kit to OUT: a new folder, or a name ending in .zip or .tar.gz.

    It is everything but solutions/, works by itself, and is the same to the byte every time.
    """
    from grader.dev import learner_kit

    summary = learner_kit.write(_kit(folder), out)
    for name in summary.unknown[:_MOST_NAMES]:
        click.echo(f"note: {name} is in it, though git does not know it yet")
    if more := len(summary.unknown[_MOST_NAMES:]):
        click.echo(f"note: and {more} more files that git does not know yet")
    size = summary.size / 1024
    click.echo(f"wrote {summary.out}: {summary.files} files, {size:,.0f} KiB, no solutions")
    click.echo(f"sha256 of names and contents: {summary.sha256}")
    return SOUND


dev.add_command(export)


# ---- what they share


def _say(text: str) -> None:
    """Print text that a file may have had a say in: no line of it is a command to a CI runner."""
    from grader.clean import clean
    from grader.render import no_command

    click.echo("\n".join(map(no_command, clean(text).split("\n"))))


def _kit(folder: Path | None) -> Kit:
    from grader import kit

    return kit.find(folder)


def _chosen(folder: Path | None, slugs: Sequence[str]) -> tuple[Kit, list[str]]:
    """The kit, and the problems that are asked for: all of them unless some are named.

    Raises UsageError where it has no solutions to prove anything with, or no such problem.
    """
    from grader import problem

    kit = _kit(folder)
    known = problem.slugs(kit)
    for slug in slugs:
        if slug not in known:
            raise UsageError(problem.unknown_problem(slug, known))
    if not known:
        raise UsageError(f"{kit.problems}: no problems there; begin one: grade dev new SLUG")
    if kit.solutions is None:
        raise UsageError(
            f"{kit.root}: a learner's kit, without solutions/; this needs the instructor's"
        )
    return kit, list(dict.fromkeys(slugs)) or known


def _problems(kit: Kit, slugs: Sequence[str]) -> list[Problem]:
    from grader import problem

    return [problem.load(kit, slug) for slug in slugs]


def _matrices(kit: Kit, slugs: Sequence[str], results: Sequence[Result]) -> list[Matrix]:
    from grader.dev import matrix
    from grader.faults import KitFault

    made: list[Matrix] = []
    for slug in slugs:
        try:
            made += matrix.matrices(_problems(kit, [slug])[0], results)
        except KitFault:
            continue  # told as a complaint
    return made


def _show(made: Sequence[Matrix], grid: bool) -> None:
    from grader import render
    from grader.cli import console, is_terminal
    from grader.dev import matrix, matrix_text

    for each in made:
        if is_terminal(sys.stdout):
            screen = console(sys.stdout)
            screen.print(render.styled(matrix_text.lines(each, screen.width, grid=grid)))
        else:
            lines = matrix_text.lines(each, grid=grid, signs=matrix.PLAIN)
            click.echo(render.plain(lines), nl=False)


def _tell_github(kit: Kit, slugs: Sequence[str], verdict: Any) -> None:
    """Annotations among what is printed, and the summary where Actions wants it."""
    from grader.dev import github

    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    inside = workspace and kit.root.is_relative_to(workspace)
    folder = kit.root.relative_to(workspace).as_posix() if inside else ""
    for line in github.annotations(verdict.complaints, "" if folder == "." else folder):
        click.echo(line)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        text = github.summary(verdict, _matrices(kit, slugs, verdict.results))
        try:
            with Path(path).open("a", encoding="utf-8") as summary:
                summary.write(text)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written ({error.strerror})") from None


def _try(kit: Kit, *paths: Path | None) -> None:
    """Refuses a place that cannot be written to before minutes are spent on what goes there."""
    given = [path for path in paths if path is not None]
    if len({path.resolve() for path in given}) < len(given):
        raise UsageError(f"{given[0]}: named twice; give each output a file of its own")
    for path in given:
        inside = [kit.problems, kit.templates, kit.root / "solutions", kit.root / "grader"]
        if any(path.resolve().is_relative_to(folder) for folder in inside):
            raise UsageError(f"{path}: a place of the kit's own files; choose another")
        if path.is_dir():
            raise UsageError(f"{path}: a folder; give the name of a file in it")
        if not path.resolve().parent.is_dir():
            raise UsageError(f"{path}: there is no folder {path.parent}; make it first")
        if not os.access(path.resolve().parent, os.W_OK):
            raise UsageError(f"{path}: cannot be written there; choose another place")


def _write(path: Path, text: str) -> None:
    """Writes a file whole or not at all; into a device or a pipe as it comes."""
    from grader import score_file

    target = path.resolve()
    if target.exists() and not target.is_file():
        try:
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    else:
        score_file.write(target, text)


def _progress(doing: str) -> Any:
    """A counter on a terminal, nothing where nobody watches."""
    if not sys.stderr.isatty():
        return None

    def tell(done: int, total: int) -> None:
        end = "\r" if done < total else "\r\033[K"
        click.echo(f"{doing} {done} of {total}{end}", nl=False, err=True)

    return tell


def _count(complaints: Sequence[object]) -> str:
    return "1 complaint" if len(complaints) == 1 else f"{len(complaints)} complaints"


def _shown(path: Path) -> str:
    """A path as it is typed from here, where it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
