"""`grade dev export …`: packages for platforms where courses already are.

A platform is one line of the table below and one module of `grader.dev.packages`, which is imported
where it is asked for.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from grader.dev.packages.place import Written

_EPILOG = """\b
Exit codes:
  0  the package is written      2  the request is at fault
  3  the kit or the grader is broken"""


class _Platform(NamedTuple):
    """out: how the place of its package is called in the usage. told: the help of its command.

    options: those of its own, which `write` of its module takes by name. default: what it holds if
    no problem is named.
    """

    name: str
    out: str
    told: str
    options: tuple[click.Option, ...] = ()
    default: str = "the only problem of the kit"


_LIBRARY = click.Option(
    ["--library"],
    type=click.Choice(["torch", "numpy"]),
    help="Grade in this library. Default: told by each file, or the problem's first one where the "
    "points of its libraries differ.",
)
_IMAGE = click.Option(
    ["--image"], metavar="NAME", help="The image to grade in, as a registry knows it."
)
_REPORTER = click.Option(
    ["--reporter"], is_flag=True, help="Leave the notices to GitHub Classroom's own reporter."
)
_PLATFORMS = (
    _Platform(
        "gradescope",
        "OUT.zip",
        "Write an autograder for Gradescope: the file OUT.zip, to upload.",
        (_LIBRARY,),
    ),
    _Platform(
        "prairielearn",
        "OUT",
        "Write a question for PrairieLearn: the folder OUT, for a course's questions/.",
        (_IMAGE,),
    ),
    _Platform(
        "github",
        "OUT",
        "Write a template repository that grades on GitHub: the folder OUT, without solutions.",
        (_REPORTER,),
    ),
    _Platform(
        "classroom50",
        "OUT",
        "Write an autograder for Classroom 50: the folder OUT, without solutions.",
    ),
    _Platform(
        "exercism",
        "OUT",
        "Write a test runner for Exercism: the folder OUT, for an image, without solutions.",
        default="all problems",
    ),
)


@click.group("export", epilog=_EPILOG)
def export() -> None:
    """Write a package that a platform takes as it is.

    It holds one problem (for Exercism several), with its solutions where the platform grades hidden
    checks. An earlier package is written over if nobody has changed it; anything else never is.
    """


def _command(platform: _Platform) -> click.Command:
    @click.command(platform.name, help=platform.told, epilog=_EPILOG)
    @click.argument("out", type=click.Path(path_type=Path), metavar=platform.out)
    @click.option("--problem", metavar="SLUG", help=f"Default: {platform.default}.")
    @click.pass_obj
    def command(folder: Path | None, /, out: Path, problem: str | None, **options: Any) -> int:
        from grader import kit

        package = importlib.import_module(f"grader.dev.packages.{platform.name}")
        written: Written = package.write(kit.find(folder), out, problem, **options)
        for line in written.told:
            click.echo(line)
        return 0

    command.params += platform.options
    return command


for _platform in _PLATFORMS:
    export.add_command(_command(_platform))
