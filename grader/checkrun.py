"""One pytest run over a problem's check files, and the record it leaves.

pytest runs with a configuration of the kit's own, whatever surrounds the submission. What it ran is
compared with what the problem declares: a check that vanished, a case that did not report, points
that do not add up are a KitFault, never a score.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import pytest_jsonreport.plugin  # noqa: F401 (pytest is told its name below)

from grader import plugin
from grader.faults import KitFault
from grader.grading import Grading, Request

PLUGINS_OFF = (
    "cacheprovider", "unraisableexception", "threadexception", "logging", "doctest", "unittest",
    "junitxml", "stepwise", "pastebin", "faulthandler", "setuponly", "setupplan", "debugging",
    "warnings",
)  # fmt: skip
_INI = Path(__file__).resolve().parent / "checks.ini"


def run(grading: Grading) -> list[dict[str, Any]]:
    """One pytest run: the record of every case, complete and of the declared checks only."""
    observer = _Observer(grading)
    _pytest(observer)
    return observer.complete([_record(test) for test in observer.report.get("tests", [])])


Run = Callable[[Grading], list[dict[str, Any]]]


def park(grading: Grading, serve: Callable[[Run], None]) -> None:
    """Collects the checks once, for many submissions.

    serve: is given what does the same as `run`, for the same problem, library and kind of checks.
    """
    _pytest(_Observer(grading, serve))


def _pytest(observer: _Observer) -> None:
    """Runs pytest over the check files; KitFault where it could not be done."""
    request = observer.grading.request
    plugin.put_on_path(request.kit)
    arguments = [
        *("-c", str(_INI), f"--rootdir={request.kit.root}", "--import-mode=importlib"),
        *(
            "--noconftest",
            "--strict-markers",
            "--disable-plugin-autoload",
            "--capture=no",
            "-qq",
            "--tb=no",
        ),
        *("-p", "pytest_jsonreport.plugin", "-p", "grader.plugin"),
        *(part for name in PLUGINS_OFF for part in ("-p", f"no:{name}")),
        *("--json-report", "--json-report-file=none"),
        "--json-report-omit=collectors,log,streams,keywords,environment,warnings,traceback",
        *map(str, observer.names),
    ]
    with _clean_environment(), contextlib.redirect_stdout(observer.printed):
        code = pytest.main(arguments, plugins=[observer])
    if observer.error is not None:
        raise observer.error
    ran = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
    if code not in ran:
        printed = observer.printed.getvalue().strip()
        raise KitFault(f"{request.problem.slug}: the checks could not be run\n{printed}")


def declared(path: Path, library: str) -> list[str]:
    """The check functions a file defines for this library, read without running it.

    Raises KitFault for one name twice: Python would keep the last and say nothing.
    """
    where = _where(path)
    try:
        body = ast.parse(path.read_text(encoding="utf-8"), filename=where).body
    except (OSError, SyntaxError, ValueError) as error:
        raise KitFault(f"{where}: cannot be read as Python: {error}") from None
    checks = [
        node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    for name, count in Counter(node.name for node in checks).items():
        if count > 1:
            raise KitFault(f"{where}: {name} is defined {count} times; Python keeps the last", name)
    return [node.name for node in checks if library in _libraries(node, library)]


def _where(path: Path) -> str:
    """A check file by its place in the kit."""
    return f"{path.parent.parent.name}/{path.parent.name}/{path.name}"


def _libraries(check: ast.FunctionDef, library: str) -> list[str]:
    """The libraries its `@pytest.mark.library(…)` names; any library without one."""
    for mark in check.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.library":
            return [str(ast.literal_eval(argument)) for argument in mark.args]
    return [library]


class _Observer:
    """Puts the grading where the plugin looks for it, and keeps what pytest hands out."""

    def __init__(self, grading: Grading, serve: Callable[[Run], None] | None = None) -> None:
        request = grading.request
        self.grading = grading
        self.serve = serve
        self.printed = io.StringIO()
        files = [request.problem.checks]
        if request.hidden and request.problem.hidden is not None:
            files.append(request.problem.hidden)
        self.names = {path: declared(path, request.library) for path in files}
        self.collected: list[str] = []
        self.report: dict[str, Any] = {}
        self.error: BaseException | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[plugin.GRADING] = self.grading
        if self.serve is not None:
            config.stash[plugin.PARKED] = True

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected = [item.nodeid for item in session.items]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if self.serve is None or session.testsfailed:
            return None
        self.serve(partial(self.run_collected, session))
        return True

    def run_collected(self, session: pytest.Session, grading: Grading) -> list[dict[str, Any]]:
        """Runs the collected checks, with all that pytest and its plugins gather begun anew."""
        reported = session.config._json_report._json_tests  # type: ignore[attr-defined]
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        assert terminal is not None
        for gathered in (reported, terminal.stats):
            gathered.clear()
        session.testsfailed = 0
        self.printed.seek(0)
        self.printed.truncate()
        plugin.begin(session, grading)
        records = []
        try:
            for item, after in zip_longest(session.items, session.items[1:]):
                record = plugin.settled(item, grading)
                if record is None:
                    self._tear_down(session, item)  # what was left for checks that were not run
                    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                    record = _record(reported[item.nodeid])
                    plugin.learn(item, grading, record)
                records.append(record)
        finally:
            self._tear_down(session, None)
        return self.complete(records)

    def _tear_down(self, session: pytest.Session, until: pytest.Item | None) -> None:
        """Ends the fixtures that this check does not share; all of them where there is none."""
        try:
            session._setupstate.teardown_exact(until)
        except Exception as error:
            slug = self.grading.request.problem.slug
            raise KitFault(f"{slug}: a fixture broke at its end: {error!r}") from error

    def complete(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The records of a run; KitFault where they are not those of the declared checks."""
        _complete(self.grading.request, self.names, self.collected, records)
        return records

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        error, slug = excinfo.value, self.grading.request.problem.slug
        broke = KitFault(f"{slug}: pytest broke: {error!r}")
        self.error = error if isinstance(error, KitFault) else broke

    def pytest_exception_interact(
        self, node: pytest.Item, call: pytest.CallInfo[Any], report: object
    ) -> None:
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
            error = call.excinfo.value
            error = error.__cause__ or error  # what pytest wraps: the check file's own exception
            self.error = KitFault(
                f"{_where(node.path)}: cannot be imported: {type(error).__name__}: {error}"
            )

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if type(excinfo.value) is KeyboardInterrupt:  # not one of pytest's reasons to stop
            self.error = excinfo.value

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        self.report = json_report


def _record(test: dict[str, Any]) -> dict[str, Any]:
    """One case of the JSON report, with what the plugin recorded; KitFault if the check crashed."""
    stages = [test[stage] for stage in ("setup", "call", "teardown") if stage in test]
    metadata = test.get("metadata")
    name = test["nodeid"].rpartition("::")[2]
    if metadata is None:
        raise KitFault(f"{test['nodeid']}: the check left no record", name.partition("[")[0])
    if "fault" in metadata:
        raise KitFault(f"{test['nodeid']}: {metadata['fault']}", metadata["facts"]["function"])
    if test.get("teardown", {}).get("outcome") == "failed":
        said = test["teardown"].get("crash", {}).get("message", "")
        raise KitFault(
            f"{test['nodeid']}: broke after the check: {said}", metadata["facts"]["function"]
        )
    skipped = next((s for s in stages if s["outcome"] == "skipped"), None)
    return {
        **metadata,
        "nodeid": test["nodeid"],
        "outcome": test["outcome"],
        "reason": _skip_reason(skipped) if skipped else None,
        "seconds": sum(stage.get("duration", 0.0) for stage in stages),
    }


def _skip_reason(stage: dict[str, Any]) -> str:
    """The sentence of a skip, which pytest reports as ('file', line, 'Skipped: sentence')."""
    text = stage.get("longrepr", "")
    try:
        text = ast.literal_eval(text)[2]
    except (ValueError, SyntaxError, IndexError, TypeError):
        pass
    return str(text).removeprefix("Skipped: ")


def _complete(
    request: Request,
    names: dict[Path, list[str]],
    collected: list[str],
    records: list[dict[str, Any]],
) -> None:
    """Every declared check ran, with every case; their points add up to what the problem says."""
    problem, library = request.problem, request.library
    if Counter(collected) != Counter(record["nodeid"] for record in records):
        lost = set(collected) ^ {record["nodeid"] for record in records}
        raise KitFault(f"{problem.slug}: cases collected but not run, or run twice: {sorted(lost)}")
    for path, functions in names.items():
        hidden = path != problem.checks
        found = {r["facts"]["function"] for r in records if r["facts"]["hidden"] == hidden}
        where = _where(path)
        if missing := set(functions) - found:
            raise KitFault(f"{where}: {min(missing)} is declared but did not run", min(missing))
        if added := found - set(functions):
            raise KitFault(f"{where}: {min(added)} ran but is not declared", min(added))
    facts = {(r["facts"]["hidden"], r["facts"]["function"]): r["facts"] for r in records}
    wanted = problem.points[library]
    sums = Counter[str]()
    for fact in facts.values():
        where = "hidden" if fact["hidden"] else "public"
        sums["extra" if fact["extra"] else where] += fact["points"]
    for where in ("public", "hidden", "extra"):
        said = getattr(wanted, where)
        known = where == "public" or request.hidden
        if known and sums[where] != said:
            raise KitFault(
                f"problems/{problem.slug}/problem.toml: points.{library}.{where} says {said}, but "
                f"the checks add up to {sums[where]}; correct one of them"
            )


@contextlib.contextmanager
def _clean_environment() -> Iterator[None]:
    """pytest reads PYTEST_* variables of whoever runs it; a grading must not."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("PYTEST_")}
    try:
        yield
    finally:
        for name in [name for name in os.environ if name.startswith("PYTEST_")]:
            del os.environ[name]
        os.environ.update(kept)
