"""One lane: `python -P -m grader.lane CONNECTION_FD PARENT_PID`, started by `grader.lanes` alone.

Receives the kit, then one `Job` after another, and answers each with its report, with what the kit
got wrong, or with the UsageError that prevents it. Ends when the connection does, and when its
parent does while it is grading.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from datetime import UTC, datetime
from multiprocessing.connection import Connection

from grader import problem, session
from grader.clean import clean
from grader.faults import KitFault, UsageError
from grader.kit import Kit
from grader.lanes import Job
from grader.report import FaultReport, Report
from grader.report import Kit as KitTold
from grader.workers import Launcher, launcher


def main() -> None:
    """Grades until nobody asks any more."""
    connection = Connection(int(sys.argv[1]))
    threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    kit = connection.recv()
    started = launcher("auto")
    while True:
        try:
            job = connection.recv()
        except EOFError:
            started.close()
            return
        if not started.alive():  # a submission got that far: the next one has nothing to do with it
            started.close()
            started = launcher("auto")
        try:
            connection.send(_graded(kit, job, started))
        except ConnectionError:  # nobody waits for it any more
            started.close()
            return


def _graded(kit: Kit, job: Job, started: Launcher) -> Report | FaultReport | UsageError:
    try:
        return session.grade(
            kit,
            problem.load(kit, job.slug),
            job.source,
            library=job.library,
            device=job.device,
            seed=job.seed,
            hidden=job.hidden,
            started=started,
            on_trust=job.on_trust,
        )
    except UsageError as error:
        return error
    except KitFault as fault:
        return _fault(kit, job, str(fault), fault.check)
    except Exception as error:
        return _fault(
            kit, job, f"the grader itself crashed ({type(error).__name__}: {error})", None
        )


def _fault(kit: Kit, job: Job, message: str, check: str | None) -> FaultReport:
    return FaultReport(
        kit=KitTold(kit.name, kit.version),
        problem=job.slug,
        message=clean(message.replace(f"{kit.root}{os.sep}", "")),
        check=check,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _end_with(parent: int) -> None:
    """Ends this lane once whoever asked for it is gone: nobody else would."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main()
