"""Desks: checks that are collected once judge many submissions as if each were the only one."""

from __future__ import annotations

import os
import random
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from grader import kit, problem, submission_file
from grader.grading import Grading, Request
from grader.lanes import Job, Lanes
from grader.memory import Memory
from grader.report import FaultReport
from grader.workers import Forked
from tests import kits
from tests.kits import told

ROOT = Path(__file__).resolve().parent.parent

MANY = '''\
import pathlib

import pytest

from grader.expect import exactly
from grader.submission import Case

MADE = pathlib.Path(__file__).with_name("made")


@pytest.mark.points(4, group="values")
def test_many(submission, rng):
    """Every number has a next one."""

    def cases():
        with MADE.open("a") as file:
            file.write("made\\n")
        return [Case((n,), exactly(n + 1)) for n in (rng.randrange(99), 3, 4)]

    submission.check(cases)
    submission.check(cases)


@pytest.mark.points(3, group="values")
def test_more(submission):
    """And so have these."""
    submission.check(lambda: [Case((n,), exactly(n + 1)) for n in (1, 2)], unchanged=True)
    submission.check(lambda: [Case((n,), exactly(n + 1)) for n in (1, 2)], private=True)
'''
ANSWERS = {
    "right": kits.RIGHT,
    "wrong": "def plus_one(number):\n    return number + 2\n",
    "wrong in one case": "def plus_one(number):\n    return number + 1 + (number == 4)\n",
    "raises": "def plus_one(number):\n    raise ValueError('no')\n",
    "leaves": "import os\ndef plus_one(number):\n    os._exit(0)\n",
    "crashes on 2": "import os, signal\ndef plus_one(number):\n    if number == 2:\n"
    "        os.kill(os.getpid(), signal.SIGSEGV)\n    return number + 1\n",
    "unreadable": "def plus_one(number:\n",
    "prints": "def plus_one(number):\n    print('seen', number)\n    return number + 1\n",
    "hangs": "def plus_one(number):\n    while number == 3:\n        pass\n    return number + 1\n",
}
HIDDEN = '''\
import pytest

from grader.expect import exactly
from grader.submission import Case


@pytest.mark.points(3, group="values")
def test_any_number(submission, reference, rng):
    """One more than any number follows it."""

    def cases():
        numbers = [rng.randrange(10**6) for _ in range(5)]
        return [Case((n,), exactly(reference(n))) for n in numbers]

    submission.check(cases)
'''


def job(slug: str, file: Path, text: str, seed: int = 1) -> Job:
    file.write_text(text, encoding="utf-8")
    return Job(slug, submission_file.read(file), "torch", seed)


@pytest.fixture(name="tiny")
def _tiny(tmp_path: Path) -> kits.TinyKit:
    toml = kits.TOML.replace("hidden = 0", "hidden = 3")
    return kits.write_kit(
        tmp_path / "kit", toml=toml, checks=MANY, hidden=HIDDEN, solution=kits.RIGHT
    )


def test_a_lane_tells_what_a_grading_alone_tells(tiny, tmp_path):
    """Whatever was graded before it, a submission gets the report that it gets by itself."""
    file = tmp_path / "next.py"
    started = Forked()
    try:
        alone = {}
        for name, text in ANSWERS.items():
            file.write_text(text, encoding="utf-8")
            alone[name] = told(tiny.grade(file, started, seed=1))
    finally:
        started.close()

    with Lanes(kit.find(tiny.root), 1) as lanes:
        for name in [*ANSWERS, *reversed(ANSWERS)]:
            report = lanes.submit(job(tiny.slug, file, ANSWERS[name])).result(60)
            assert told(report) == alone[name], name


@pytest.mark.parametrize("slug", ["verify", "step"])
def test_real_problems_are_judged_alike(slug, tmp_path):
    """Right, wrong and otherwise drawing answers to a real problem are told the same as alone,
    each of them twice and whatever came before."""
    if not (ROOT / "solutions").is_dir():
        pytest.skip("a learner's kit: there are no answers here")
    real = kit.find(ROOT)
    exercise = problem.load(real, slug)
    files = [
        path
        for kind in ("right", "wrong", "stream")
        for path in sorted((ROOT / "solutions" / slug / kind).glob("*.py"))[::70]
        if "random" not in path.stem  # such a file is told something else every time
    ]
    jobs = []
    for path in files:
        source = submission_file.read(path)
        library = submission_file.chosen_library("auto", source, slug, exercise.libraries)
        jobs.append(Job(slug, source, library, 5, on_trust=True))
    order = [*range(len(files))] * 2
    random.Random(slug).shuffle(order)
    with Lanes(real, 1) as lanes:
        warm = [told(lanes.submit(jobs[place]).result(120)) for place in order]

    from grader import session

    started = Forked()
    try:
        alone = [
            session.grade(
                real, exercise, each.source, library=each.library, seed=5, started=started,
                on_trust=True,
            )
            for each in jobs
        ]  # fmt: skip
        for place, report in zip(order, warm, strict=True):
            assert report == told(alone[place]), files[place]
    finally:
        started.close()


def test_cases_that_a_function_makes_are_made_once(tiny, tmp_path):
    """A lane calls such a function for the reference, and for no submission after it."""
    with Lanes(kit.find(tiny.root), 1) as lanes:
        for name in ("right", "wrong", "right"):
            lanes.submit(job(tiny.slug, tmp_path / "next.py", ANSWERS[name])).result(60)

    # Twice: the check asks two messages.
    assert tiny.checks.with_name("made").read_text() == "made\n" * 2


def test_every_seed_has_hidden_inputs_of_its_own(tiny, tmp_path):
    """A job with another seed is asked other hidden questions, whatever the lane was made for."""
    parity = "def plus_one(number):\n    print(number)\n    return number + 1 + number % 2\n"
    file = tmp_path / "next.py"
    file.write_text(parity, encoding="utf-8")
    started = Forked()
    seeds = [1, 2, 3, 3, 3, 1, 1, 4]
    try:
        alone = {seed: told(tiny.grade(file, started, seed=seed)) for seed in {*seeds}}
    finally:
        started.close()

    with Lanes(kit.find(tiny.root), 1) as lanes:
        for seed in seeds:
            report = lanes.submit(job(tiny.slug, file, parity, seed)).result(60)
            assert told(report) == alone[seed], seed


def test_a_submission_teaches_nothing(tiny):
    """What is known to be right comes from the reference: nothing that others answer is added."""
    exercise = tiny.problem
    memory = Memory()
    started = Forked()
    try:
        from grader import checkrun

        def graded(text: str) -> Any:
            request = Request(
                kit.find(tiny.root), exercise, text.encode(), "torch", "cpu", 1, hidden=True
            )
            with Grading(request, started, memory) as grading:
                return checkrun.run(grading)

        graded(kits.RIGHT)
        memory.close()
        known = {key: deepcopy(message.right) for key, message in memory.messages.items()}
        answers = dict(memory.answers)
        assert sum(map(len, known.values())) >= 9
        for text in ANSWERS.values():
            graded(text)
    finally:
        started.close()

    assert {key: message.right for key, message in memory.messages.items()} == known
    assert memory.answers == answers


def test_a_reply_is_right_for_its_own_call_alone(tmp_path):
    """An answer that was right to one call is no answer to another."""
    checks = kits.CHECKS.replace(
        "submission.check([Case((13,), exactly(14))])",
        "submission.check(lambda: [Case((n,), exactly(n + 1)) for n in (13, 14, 15)])",
    )
    tiny = kits.write_kit(tmp_path / "kit", checks=checks, solution=kits.RIGHT)
    late = "def plus_one(number):\n    return 14 if 12 < number < 16 else number + 1\n"
    with Lanes(kit.find(tiny.root), 1) as lanes:
        for text, score in ((kits.RIGHT, 7), (late, 5), (kits.RIGHT, 7)):
            report = lanes.submit(job(tiny.slug, tmp_path / "next.py", text)).result(60)
            assert told(report)["score"] == score


def test_a_kit_that_is_wrong_is_told_for_every_job(tmp_path):
    """A reference that fails its checks is a fault of the kit, and nobody has a score."""
    tiny = kits.write_kit(tmp_path / "kit", solution=ANSWERS["wrong"])
    with Lanes(kit.find(tiny.root), 1) as lanes:
        for _ in range(3):
            fault = lanes.submit(job(tiny.slug, tmp_path / "next.py", kits.RIGHT)).result(60)
            assert isinstance(fault, FaultReport)
            assert "fails the check test_before" in fault.message


def test_a_check_file_that_cannot_be_imported_is_told_for_every_job(tmp_path):
    """What the check file raises is told, and nobody is given a score."""
    tiny = kits.write_kit(tmp_path / "kit", checks=kits.CHECKS + "\nraise LookupError('gone')\n")
    with Lanes(kit.find(tiny.root), 1) as lanes:
        for _ in range(2):
            fault = lanes.submit(job(tiny.slug, tmp_path / "next.py", kits.RIGHT)).result(60)
            assert isinstance(fault, FaultReport)
            assert "cannot be imported: LookupError: gone" in fault.message


def test_a_lane_has_few_desks(tmp_path):
    """More problems than a lane has desks are graded in turn, and desks that are left are ended."""
    made = [kits.write_kit(tmp_path / "kit", solution=kits.RIGHT) for _ in range(6)]
    before = kits.descendants()
    with Lanes(kit.find(tmp_path / "kit"), 1) as lanes:
        for tiny in [*made, *made]:
            report = lanes.submit(job(tiny.slug, tmp_path / "next.py", kits.RIGHT)).result(60)
            assert told(report)["score"] == 7
        # the lane, its zygote, and no more desks than it may have
        assert len(kits.descendants() - before) <= 2 + 4


def test_a_desk_that_dies_costs_nothing_but_time(tiny, tmp_path):
    """A desk that is killed is replaced with its lane, and its file graded once more."""
    with Lanes(kit.find(tiny.root), 1) as lanes:
        lanes.submit(job(tiny.slug, tmp_path / "next.py", kits.RIGHT)).result(60)
        [lane] = lanes._running
        children = Path(f"/proc/{lane._process.pid}/task/{lane._process.pid}/children")
        if not children.exists():
            pytest.skip("this kernel does not list children")
        for pid in map(int, children.read_text().split()):
            if "zygote" not in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, 9)
        report = lanes.submit(job(tiny.slug, tmp_path / "next.py", kits.RIGHT)).result(60)

    assert told(report)["score"] == 10


def test_random_numbers_go_on_as_if_cases_had_been_made(tmp_path):
    """What a check draws after its cases is the same whether they were made or remembered."""
    checks = kits.CHECKS.replace(
        "def test_thirteen(submission):", "def test_thirteen(submission, rng):"
    ).replace(
        "submission.check([Case((13,), exactly(14))])",
        "submission.check(lambda: [Case((n,), exactly(n + 1)) for n in (13, rng.randrange(99))])\n"
        "    number = rng.randrange(10**9)\n"
        "    assert submission(number) == exactly(number + 1)",
    )
    tiny = kits.write_kit(tmp_path / "kit", checks=checks, solution=kits.RIGHT)
    prints = "def plus_one(number):\n    print(number)\n    return number + 1\n"
    file = tmp_path / "next.py"
    file.write_text(prints, encoding="utf-8")
    started = Forked()
    try:
        alone = told(tiny.grade(file, started, seed=1))
    finally:
        started.close()
    with Lanes(kit.find(tiny.root), 1) as lanes:
        for _ in range(2):
            assert told(lanes.submit(job(tiny.slug, file, prints)).result(60)) == alone


def test_a_problem_that_cannot_be_read_is_told_for_every_job(tmp_path):
    """What is wrong with problem.toml is told, and is no death of the process that reads it."""
    tiny = kits.write_kit(tmp_path / "kit", toml="format = 1\n")
    with Lanes(kit.find(tiny.root), 1) as lanes:
        for _ in range(2):
            fault = lanes.submit(job(tiny.slug, tmp_path / "next.py", kits.RIGHT)).result(60)
            assert isinstance(fault, FaultReport)
            assert "problem.toml" in fault.message
