"""A check of the kit as GitHub Actions shows it: annotations on files, and a summary of the step.

Both are text to be written by the caller: an annotation is a line on the standard output, the
summary goes to the end of the file that `GITHUB_STEP_SUMMARY` names.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from grader.actions import MOST_ANNOTATIONS, MOST_BYTES, command
from grader.actions import markdown as _text
from grader.dev.complaints import Complaint
from grader.dev.matrix import DRAWN, Matrix
from grader.dev.survey import by_file

if TYPE_CHECKING:
    from grader.dev.check import Verdict

_MOST_BYTES_OF_COMPLAINTS = 400_000


def annotations(complaints: Sequence[Complaint], folder: str = "") -> list[str]:
    """A workflow command for each complaint; where they are too many, the last tells how many more.

    folder: of the kit in the repository, where it is not the repository itself.
    """
    shown = len(complaints) if len(complaints) <= MOST_ANNOTATIONS else MOST_ANNOTATIONS - 1
    lines = []
    for complaint in complaints[:shown]:
        file = f"{folder.strip('/')}/{complaint.file}".lstrip("/")
        told = f"{complaint.text}\n{complaint.cure}"
        lines.append(command("error", told, file=file, line=complaint.line, title=complaint.rule))
    if more := len(complaints) - shown:
        told = f"and {more} more; the job's summary has all"
        lines.append(command("error", told, title="grade dev check"))
    return lines


def summary(verdict: "Verdict", matrices: Sequence[Matrix] = ()) -> str:
    """The outcome in GitHub's Markdown, with the matrices folded in, and short enough to be taken.

    What does not fit is left out from the end, and said to be.
    """
    parts = [f"## {_headline(verdict)}\n\n{_effort(verdict)}\n"]
    if verdict.complaints:
        parts.append(_complaints(verdict.complaints))
    if verdict.notes:
        parts.append("".join(f"- {_text(note)}\n" for note in verdict.notes))
    room = MOST_BYTES - sum(_size(part) + 1 for part in parts)
    for matrix in matrices:
        part = _matrix(matrix)
        if _size(part) + 1 > room - 1_000:
            part = (
                f"The matrix of {matrix.problem} ({matrix.library}) is too large for this page: "
                f"`grade dev matrix {matrix.problem}` shows it.\n"
            )
        parts.append(part)
        room -= _size(part) + 1
    return "\n".join(parts)


# ---- the parts of the summary


def _headline(verdict: "Verdict") -> str:
    number = len(verdict.complaints)
    if not number:
        return "The kit is sound"
    return f"The kit is not sound: {number} {'complaint' if number == 1 else 'complaints'}"


def _effort(verdict: "Verdict") -> str:
    names = ", ".join(verdict.problems) or "no problem"
    files, gradings = len(by_file(verdict.results)), len(verdict.results)
    return (
        f"{_text(names)}: {files} known files in {gradings} gradings, {len(verdict.rules)} rules, "
        f"{verdict.seconds:.0f} s."
    )


def _complaints(complaints: Sequence[Complaint]) -> str:
    # HTML and not Markdown: nothing within a cell means anything but what is escaped here.
    lines = ["<table>", "<tr><th>where</th><th>rule</th><th>what is wrong, and its cure</th></tr>"]
    room = _MOST_BYTES_OF_COMPLAINTS
    for number, each in enumerate(complaints):
        line = (
            f"<tr><td><code>{_text(f'{each.file}:{each.line}')}</code></td>"
            f"<td>{_text(each.rule)}</td>"
            f"<td>{_text(each.text)}<br><i>{_text(each.cure)}</i></td></tr>"
        )
        room -= _size(line) + 1
        if room < 0:
            more = len(complaints) - number
            lines.append(f'<tr><td colspan="3">and {more} more: see the log of the step</td></tr>')
            break
        lines.append(line)
    return "\n".join([*lines, "</table>", ""])


def _matrix(matrix: Matrix) -> str:
    title = f"{matrix.problem}, {matrix.library}: {matrix.headline}"
    lines = ["<details>", f"<summary>{_text(title)}</summary>", ""]
    lines += _grid(matrix)
    lines += ["", *_legend(matrix), "", "</details>", ""]
    return "\n".join(lines)


def _grid(matrix: Matrix) -> Iterator[str]:
    """Known files by checks; right files only where they lose one."""
    numbers = [str(check.number) for check in matrix.checks]
    yield f"| file | {' | '.join(['told', 'fails', *numbers])} |"
    yield "|---|---|--:|" + ":-:|" * len(numbers)
    for row in matrix.rows:
        if row.known.kind == "right" and not (row.killers | row.sometimes):
            continue
        cells = [row.told, str(len(row.killers))]
        cells += [DRAWN.of(row, check)[0] for check in matrix.checks]
        yield f"| `{row.known.kind}/{row.name}` | {' | '.join(cells)} |"


def _legend(matrix: Matrix) -> Iterator[str]:
    yield (
        f"{DRAWN.killed} failed, {DRAWN.passed} passed, {DRAWN.not_run} cannot be run here; "
        f"to be mended: {DRAWN.unnamed} failed and not named by the file, {DRAWN.not_lost} passed "
        f"and named, \\{DRAWN.sometimes} failed with some seeds only. Right files are shown where "
        "they fail something. `told` is whose sentence a learner hears."
    )
    yield ""
    for check in matrix.checks:
        hidden = ", hidden" if check.hidden else ""
        kills = matrix.kills[check.id]
        alone = len(matrix.alone.get(check.id, ()))
        yield (
            f"{check.number}. `{check.id}` ({_text(check.group)}{hidden}): catches {kills} wrong "
            f"{'file' if kills == 1 else 'files'}, {alone} of them alone"
        )


def _size(text: str) -> int:
    return len(text.encode("utf-8", errors="replace"))
