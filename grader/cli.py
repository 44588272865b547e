"""The `grade` command: reads the request, calls the grader, prints, and exits.

It is the only module that does the last two (`__main__` ends the process where it is interrupted
before this one is there). Only click is imported at the top, since `list`,
`show`, `start` and `hint` should answer at once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TextIO

import click

from grader import __version__
from grader.faults import KitFault, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from grader import report
    from grader.kit import Kit
    from grader.problem import Problem
    from grader.report import FaultReport, Report
    from grader.submission_file import SubmissionSource
    from grader.workers import Launcher

FULL_MARKS, POINTS_LOST, USAGE, KIT_FAULT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141

_EXIT_CODES = """\b
Exit codes:
  0  full marks (or the command did what was asked)
  1  points lost
  2  the request is at fault: a file, an option, a name
  3  the kit or the grader is broken; nobody's score"""

_STARTED = "grader.started"  # where `run` finds a launcher that was started ahead

_FOLDER = click.Path(path_type=Path, resolve_path=True, exists=True, file_okay=False)
_PATH = click.Path(path_type=Path)
_LIBRARIES = ["torch", "numpy"]
# Those of grader.export, which is imported where one is asked for.
_FORMATS = [
    *("text", "json", "html", "gradescope", "prairielearn", "exercism"),
    *("github", "classroom", "classroom50", "junit"),
]
# Those of platforms whose logs learners read, where no title of a hidden check may stand.
_LOGGED = frozenset({"github", "classroom", "classroom50", "junit"})


def main(started: Launcher | None = None) -> NoReturn:
    """Run the command line and leave with its exit code.

    started: the launcher of workers that `run` will need, if it has been started already.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter should show something else, not a traceback.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    _leave(_run_command(started))


def _run_command(started: Launcher | None) -> int:
    try:
        return _grade.main(prog_name="grade", standalone_mode=False, obj=started) or FULL_MARKS
    except click.ClickException as error:
        error.show()
        return USAGE
    except UsageError as error:
        # A name may hold anything: on one line it cannot pass for a line of somebody else's.
        _tell(" ".join(str(error).split()))
        return USAGE
    except KitFault as error:
        _tell(f"the kit is broken, this is no score: {error}{_doubt()}")
        return KIT_FAULT
    except (KeyboardInterrupt, click.Abort):
        _tell("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return PIPE_CLOSED
    except OSError as error:
        if not _is_full(error):
            _tell_crash()
            return KIT_FAULT
        _tell(f"what was found could not be written: {error.strerror}")
        return USAGE
    except SystemExit as left:
        # click leaves by itself with 1 where a reader has gone away, and 1 means lost points here.
        return PIPE_CLOSED if left.code else FULL_MARKS
    except Exception:
        _tell_crash()
        return KIT_FAULT


def _is_full(error: Exception) -> bool:
    """Whether it tells of a disk that takes nothing more, which is no fault of the grader."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
    return isinstance(error, OSError) and error.errno in full


def _leave(code: int) -> NoReturn:
    """End the process at once, with everything printed.

    Taking the interpreter down in order would cost a tenth of a second after a grading, for objects
    that the system frees anyway; nothing here relies on being finalised.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            code = PIPE_CLOSED
        except (AttributeError, OSError, ValueError):
            pass  # closed, full, or never there: no way is left to tell
    os._exit(code)


def _say(paragraph: str) -> None:
    """Print a paragraph: in lines of a readable length on a terminal, in one piece piped."""
    if sys.stdout.isatty():
        import shutil

        paragraph = click.wrap_text(paragraph, min(shutil.get_terminal_size().columns, 88))
    click.echo(paragraph)


def _tell(message: str) -> None:
    # A file's name is its owner's choice, and an instructor's terminal is not theirs to steer.
    shown = "".join(char if char.isprintable() or char == "\n" else "?" for char in message)
    with contextlib.suppress(BrokenPipeError):
        click.echo(f"grade: {shown}", err=True)


def _doubt() -> str:
    """What else may be why, where the kit seems to be broken."""
    from grader import limits

    found = limits.doubt()
    return f" ({found})" if found else ""


def _tell_crash() -> None:
    import traceback

    _tell(
        f"the grader itself crashed, this is no score; please report it\n{traceback.format_exc()}"
    )


class _Lazy(click.Group):
    """The commands of this module, and those that are loaded where they are asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [*super().list_commands(context), "batch", "report", "diff", "dev"]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name == "dev":
            from grader.dev.cli import dev

            return dev
        if name in ("batch", "report", "diff"):
            from grader.batch import cli

            return cli.COMMANDS[name]
        return super().get_command(context, name)


@click.group(name="grade", cls=_Lazy, epilog=_EXIT_CODES)
@click.option("--kit", type=_FOLDER, metavar="DIR", help="Use the problems in DIR instead.")
@click.version_option(__version__, prog_name="grade", message="%(prog)s %(version)s")
@click.pass_context
def _grade(context: click.Context, kit: Path | None) -> None:
    """Exercises on speculative decoding, and their grader.

    \b
    grade list                 which problems there are
    grade start verify         a stub to fill in
    grade run verify.py        grade it
    """
    context.meta[_STARTED] = context.obj
    context.obj = kit


@_grade.command("list")
@click.pass_obj
def _list(folder: Path | None) -> None:
    """List the problems."""
    from grader import problem

    kit = _kit(folder)
    problems = [problem.load(kit, slug) for slug in problem.slugs(kit)]
    if not problems:
        raise UsageError(f"{kit.problems}: no problems there")
    width = max(len(each.slug) for each in problems)
    for each in problems:
        click.echo(f"{each.slug:<{width}}  {each.title} ({', '.join(each.libraries)})")
        click.echo(f"{'':<{width}}  {each.summary}")
    click.echo(f"\nRead one: grade show {problems[0].slug}")


@_grade.command("show")
@click.argument("slug")
@click.option("--learn", is_flag=True, help="The idea behind the problem, explained.")
@click.pass_obj
def _show(folder: Path | None, slug: str, learn: bool) -> None:
    """Show what a problem asks for."""
    from grader import pages

    page = _problem(folder, slug).page("learn" if learn else "statement")
    if is_terminal(sys.stdout):
        pages.show(page, console(sys.stdout))
    else:
        click.echo(pages.plain(page), nl=False)


@_grade.command("start")
@click.argument("slug")
@click.argument("file", type=_PATH, required=False)
@click.option("--library", type=click.Choice(_LIBRARIES), help="Default: the problem's first.")
@click.pass_obj
def _start(folder: Path | None, slug: str, file: Path | None, library: str | None) -> None:
    """Write a problem's stub to FILE, ready to be filled in.

    FILE defaults to the stub's own name, in this folder. A file that exists is never overwritten.
    """
    from grader import stub

    written = stub.write(_problem(folder, slug), file, library)
    click.echo(f"Wrote {written.file} ({written.library}).")
    click.echo(f"Fill in {written.entry}, then: {_run_line(written.file, slug)}")


@_grade.command("hint")
@click.argument("slug")
@click.argument("number", type=click.IntRange(1), required=False)
@click.option("--all", "everything", is_flag=True, help="All hints at once.")
@click.option("--reset", is_flag=True, help="Begin again with the first one, next time.")
@click.pass_obj
def _hint(
    folder: Path | None, slug: str, number: int | None, everything: bool, reset: bool
) -> None:
    """Give the next hint for a problem; it remembers where you were.

    With NUMBER, that hint, and nothing is remembered.
    """
    from grader import hints

    kit = _kit(folder)
    all_hints = _problem(folder, slug).hints
    path, key = hints.state_file(), f"{kit.name}/{slug}"
    total = len(all_hints)
    if number is not None:
        if number > total:
            raise UsageError(f"{slug} has {total} hints; all of them: grade hint {slug} --all")
        _say(f"Hint {number} of {total}: {all_hints[number - 1]}")
        return
    if reset:
        count = 0
        click.echo(f"The next hint for {slug} is the first of {total} again.")
    elif everything:
        count = total
        for each, hint in enumerate(all_hints, 1):
            _say(f"Hint {each} of {total}: {hint}")
    else:
        count = min(hints.read_count(path, key) + 1, total)
        _say(f"Hint {count} of {total}: {all_hints[count - 1]}")
        if count == total:
            click.echo(f"That is the last one. All again: grade hint {slug} --all")
    try:
        hints.write_count(path, key, count)
    except OSError as error:
        _tell(f"this could not be remembered for next time: {path}: {error.strerror}")


@_grade.command("run", epilog=_EXIT_CODES)
@click.argument("file", type=_PATH)
@click.option("--problem", metavar="SLUG", help="Default: told by the file's name.")
@click.option(
    "--library",
    type=click.Choice(["auto", *_LIBRARIES]),
    default="auto",
    help="Default: told by the file's imports.",
)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="What the result is written as.",
)
@click.option("-o", "out", type=_PATH, metavar="PATH|-", help="Write the result to PATH.")
@click.option("--json", "json_path", type=_PATH, metavar="PATH|-", help="Write the score as JSON.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of the hidden checks.")
@click.option("--full", is_flag=True, help="Tell every failure with its inputs.")
@click.option("--no-hidden", is_flag=True, help="Leave the hidden checks out.")
@click.option(
    "--require-hidden",
    is_flag=True,
    help="Grade nobody (exit code 3) where this kit has no hidden checks for the problem.",
)
@click.option(
    "--workers",
    type=click.Choice(["auto", "fork", "fresh"]),
    default="auto",
    help="How the processes that run the file are made.",
)
@click.option(
    "--isolation",
    type=click.Choice(["auto", "locked", "no-open", "process"]),
    default="auto",
    help="How far they are kept apart (default: the best this machine has).",
)
@click.option("--require-isolation", is_flag=True, help="Refuse to grade at level process.")
@click.option(
    "--i-trust-this-file",
    "on_trust",
    is_flag=True,
    help="Run hidden checks at level process too, where FILE could read them.",
)
@click.pass_obj
def _run(
    folder: Path | None,
    /,
    file: Path,
    form: str,
    out: Path | None,
    json_path: Path | None,
    full: bool,
    **asked: Any,
) -> int:
    """Grade FILE, or the one file for the problem that lies in the folder FILE.

    The problem is the one that the name is, or begins with before "_" or "-":
    verify_numpy.py and verify-2.py are for verify.

    In a format other than text the result goes to the output alone, and the screen to the error
    output; with -o it goes to a file, and the screen is shown as usual. With exit code 2 there is a
    result only if the file is at fault, and none in text and json.
    """
    from grader import workers

    outputs = _outputs(file, form, out, json_path)
    if asked["require_hidden"] and asked["no_hidden"]:
        raise UsageError("--require-hidden and --no-hidden contradict each other; leave one out")
    screen = sys.stderr if any(output.target is None for output in outputs) else sys.stdout
    # Loading PyTorch takes most of the time of a grading: it begins before anything is read.
    started = click.get_current_context().meta[_STARTED] or workers.launcher(
        asked["workers"], level=asked["isolation"]
    )
    try:
        _make_ready_to_print(screen)
        # Not there yet where reading it is what fails.
        kit, slug = None, asked["problem"]
        try:
            kit = _kit(folder)
            slug = slug or _problem_of(kit, file)
            exercise, report = _graded(kit, slug, file, asked, started)
            documents = _documents(report, outputs)
        except click.Abort:
            raise
        except _Unreadable as error:
            # A platform waits for a result; whoever reads the screen or the JSON is told here.
            assert kit is not None
            if others := [output for output in outputs if output.form not in ("text", "json")]:
                _write(_documents(_refusal(kit, slug, file, error, asked), others))
            raise
        except Exception as error:
            # How the grader was called, and what it can write to, are nobody's result: with exit
            # code 2 there is one of a file that cannot be read, and no other.
            if not isinstance(error, UsageError) and not _is_full(error):
                _write(_documents(_fault(kit, slug, error), outputs))
            raise
        _write(documents)
        told = {
            "again": _run_line(file, slug),
            "hidden_points": exercise.points[report.library].hidden if report.seed is None else 0,
            "full": full,
        }
        _print_report(_for_log(report) if form in _LOGGED else report, screen, told)
    except BaseException:
        started.close()
        raise
    # Not closed here: the worker process sees this one end, and nobody need wait for it to follow.
    return FULL_MARKS if report.passed else POINTS_LOST


class _Output(NamedTuple):
    """A format and the file it goes to (None: the output), at the end of it or in its place."""

    form: str
    target: Path | None
    is_added: bool = False


def _outputs(file: Path, form: str, out: Path | None, json_path: Path | None) -> list[_Output]:
    """What is to be written besides the screen; what was written there before is removed."""
    from grader import score_file

    to_output = Path("-")
    asked = [("json", "--json", json_path)] if json_path else []
    if form != "text" or out not in (None, to_output):
        asked.append((form, "-o", out or to_output))
    if [path for _, _, path in asked].count(to_output) > 1:
        raise UsageError(f"--json - and --format {form} both write to the output; say -o PATH")
    outputs = [
        _Output(name, None if path == to_output else score_file.prepare(path, file, option))
        for name, option, path in asked
    ]
    if len(outputs) > len({output.target for output in outputs}):
        raise UsageError(f"-o {out}: named twice; give each output a file of its own")
    if form == "github" and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        outputs.append(_Output("step_summary", Path(summary), is_added=True))
    return outputs


def _for_log(report: Report) -> Report:
    from grader.export import sheet

    return sheet.for_learners(report)


class _Unreadable(UsageError):
    """What was handed in is at fault, not how the grader was called nor the machine it runs on."""


def _graded(
    kit: Kit, slug: str, file: Path, asked: dict[str, Any], started: Launcher
) -> tuple[Problem, Report]:
    import gc

    from grader import limits, problem, submission_file

    # One grading is over in about a second and makes few cycles; looking for them while pytest is
    # imported costs a tenth of that.
    gc.disable()
    exercise = problem.load(kit, slug)
    if asked["require_hidden"] and exercise.hidden is None:
        raise KitFault(
            f"solutions/{slug}/hidden.py: not here, and --require-hidden asks for hidden checks; "
            "was solutions/ left out where this kit was copied (a .gitignore)?"
        )
    source = _read_in(kit, slug, file) if _is_folder(file) else _read(file)
    offered = exercise.libraries
    limits.require(exercise.limits.memory)
    from grader import session

    report = session.grade(
        kit,
        exercise,
        source,
        library=submission_file.chosen_library(asked["library"], source, slug, offered),
        device=asked["device"],
        seed=asked["seed"],
        hidden=not asked["no_hidden"],
        workers=asked["workers"],
        started=started,
        require_isolation=asked["require_isolation"],
        on_trust=asked["on_trust"],
    )
    return exercise, report


def _problem_of(kit: Kit, file: Path) -> str:
    from grader import problem, submission_file

    known = problem.slugs(kit)
    slug = submission_file.problem_of(file, known)
    if not known:
        raise UsageError(problem.unknown_problem("", known))
    if slug is None:
        # A file that is not there has a better complaint than a name that tells nothing.
        if not _is_folder(file):
            _read(file)
        raise _Unreadable(
            f"{file}: its name does not tell the problem; say --problem with "
            f"{' or '.join(known)}, or name it {known[0]}.py or {known[0]}_<anything>.py"
        )
    return slug


def _read(file: Path) -> SubmissionSource:
    from grader import submission_file

    try:
        return submission_file.read(file)
    except submission_file.OutOfReach:
        raise
    except UsageError as error:
        raise _Unreadable(str(error)) from None


def _is_folder(file: Path) -> bool:
    """Whether it holds what a learner handed in; one that is named like a file was itself meant."""
    is_file = file.suffix.casefold() == ".py"
    return not is_file and os.path.isdir(file)  # noqa: PTH112 (raises in a folder that is closed)


def _read_in(kit: Kit, slug: str, folder: Path) -> SubmissionSource:
    from grader import problem
    from grader.batch import handed_in
    from grader.submission_file import OutOfReach

    try:
        return handed_in.only(folder, problem.slugs(kit), slug)
    except OutOfReach:
        raise
    except UsageError as error:
        raise _Unreadable(str(error)) from None


def _fault(kit: Kit | None, slug: str | None, error: Exception) -> FaultReport:
    """The report of a grading that the kit or the grader broke, with no path of this machine."""
    from grader import report
    from grader.clean import clean

    if isinstance(error, KitFault) and kit is not None:
        message = str(error).replace(f"{kit.root}{os.sep}", "")
    else:
        message = f"the grader itself crashed ({type(error).__name__}); see its own messages"
    return report.FaultReport(
        kit=_of_report(kit),
        problem=slug,
        message=clean(message),
        check=getattr(error, "check", None),
        started_at=_now(),
    )


def _refusal(
    kit: Kit, slug: str | None, file: Path, error: _Unreadable, asked: dict[str, Any]
) -> FaultReport:
    """The report of a grading that did not begin, as platforms tell it to the learner."""
    from grader.batch import handed_in
    from grader.export.sheet import Refused

    # A platform's own folders say nothing to a learner.
    if _is_folder(file):
        reason = str(error).removeprefix(f"{file}: ")
        message = f"{reason[0].upper()}{reason[1:]}"
    elif not os.path.lexists(file):
        # Nor does a command that nobody there may have; what lies there instead tells more.
        names = handed_in.python_files(file.parent)
        there = f", only {names}" if names else ""
        message = f"{file.name or file}: no such file{there}; check the name"
    else:
        message = f"{file.name or file}{str(error).removeprefix(str(file))}"
    return Refused(_of_report(kit), slug, message, None, _now(), _most(kit, slug, asked))


def _most(kit: Kit, slug: str | None, asked: dict[str, Any]) -> int | None:
    """What the file would be graded out of, could it be read; None where nobody can say.

    Which library it is written in nobody knows: it is the one asked for, or the problem's first.
    """
    from grader import problem

    if slug is None:
        return None
    exercise = problem.load(kit, slug)
    library = asked["library"] if asked["library"] in exercise.libraries else exercise.libraries[0]
    points = exercise.points[library]
    hidden = exercise.hidden is not None and not asked["no_hidden"]
    return points.public + (points.hidden if hidden else 0)


def _of_report(kit: Kit | None) -> report.Kit:
    from grader import kit as kits
    from grader import report

    if kit is None:
        return report.Kit(kits.NAME, __version__)
    return report.Kit(kit.name, kit.version)


def _now() -> str:
    import datetime

    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _documents(result: Report | FaultReport, outputs: list[_Output]) -> list[tuple[_Output, str]]:
    if not outputs:
        return []
    from grader import export

    return [(output, export.render(output.form, result, os.environ)) for output in outputs]


def _write(documents: list[tuple[_Output, str]]) -> None:
    from grader import score_file

    for output, text in documents:
        if output.target is None:
            click.echo(text.encode(), nl=False)  # whatever the encoding of a terminal is
        elif output.is_added:
            try:
                with output.target.open("a", encoding="utf-8", newline="\n") as file:
                    file.write(text)
            except OSError as error:
                _tell(f"{output.target}: cannot be written ({error.strerror})")
        else:
            score_file.write(output.target, text)


def _print_report(report: Report, stream: TextIO, told: dict[str, Any]) -> None:
    from grader import render

    if is_terminal(stream):
        console(stream).print(render.styled(render.screen(report, **told)))
    else:
        lines = render.screen(report, marks=render.WORDS, **told)
        click.echo(render.plain(lines), file=stream, nl=False)


def _make_ready_to_print(stream: TextIO) -> None:
    """Import rich beside the grading, which mostly waits for PyTorch to be loaded elsewhere."""
    if is_terminal(stream):
        import threading

        threading.Thread(target=console, args=(stream,), daemon=True).start()


def console(stream: TextIO) -> Console:
    """What lays out text for a terminal, in a readable width."""
    from rich.console import Console

    from grader import render

    made = Console(file=stream, highlight=False, markup=False, emoji=False)
    # Some terminals say that they have no width at all.
    made.width = min(max(made.width, render.LEAST_WIDTH), render.WIDTH)
    return made


def is_terminal(stream: TextIO) -> bool:
    """Whether to write with colour and layout: a terminal, and nobody asked for plain text."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and stream is not None and stream.isatty()


def _kit(folder: Path | None) -> Kit:
    from grader import kit

    return kit.find(folder)


def _problem(folder: Path | None, slug: str) -> Problem:
    from grader import problem

    return problem.load(_kit(folder), slug)


def _run_line(file: Path, slug: str) -> str:
    """The command that grades `file`, as it can be pasted."""
    import shlex

    from grader import submission_file

    told = submission_file.problem_of(file, [slug]) == slug
    return shlex.join(["grade", "run", str(file), *([] if told else ["--problem", slug])])
