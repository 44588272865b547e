"""The Dask engine: gradings on the workers of a scheduler that somebody else has started.

The task is "grade this file". Which worker does it, that it is done again where a worker is lost,
and how files and reports travel is Dask's; what a worker keeps for it is `station`. Workers may
come and go while a batch runs. Nothing of a batch is left on a scheduler once its client is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, TypeVar

from distributed import CancelledError, Client, KilledWorker

from grader.batch import station
from grader.batch.station import Refused, Seen
from grader.batch.terms import files, terms
from grader.faults import UsageError
from grader.kit import Kit
from grader.lanes import Job, fault
from grader.report import FaultReport, Isolation, Report

CONNECT_SECONDS = 5.0
WORKER_SECONDS = 30.0  # for a first worker
GONE_SECONDS = 300.0  # without any worker until a batch gives up
LOOK_SECONDS = 1.0  # between two looks at how many workers there are

_KEPT = "what was graded is kept, and the same command goes on"
_CLOSED = "the cluster was let go before this was graded"
_KILLED = (
    "worker after worker died while this file was graded; this is a fault of the cluster or of "
    "the grader"
)

T = TypeVar("T")


class Cluster:
    """The workers of a Dask scheduler. Used as a context manager; by many threads at once.

    apart: how far submissions are kept apart there, the same on every worker. versions: what they
    run on; the platform is that of one worker.
    """

    def __init__(self, kit: Kit, slugs: Sequence[str], address: str) -> None:
        """Connects, and looks at every worker. slugs: the problems that will be graded.

        Raises UsageError where there is no scheduler or no worker, and where a worker would not
        grade these problems as they would be here.
        """
        self._kit = kit
        self._terms = terms(kit, slugs)
        self._address = address
        self._batch = secrets.token_hex(4)
        self._number = 0
        self._client: Any = None
        self._watching: asyncio.Task[None] | None = None
        self._waiting: set[asyncio.Task[Any]] = set()
        self._suspecting = asyncio.Lock()
        self._why = f"--scheduler {address}: the connection was lost; {_KEPT}"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.count = 0
        self.apart: Isolation
        self.versions: dict[str, Any]
        try:
            self._do(self._begin()).result()
        except BaseException:
            self.close()
            raise

    def submit(self, job: Job) -> Future[Report | FaultReport]:
        """Makes a grading on a worker. Its result is a report, or what the kit got wrong; it
        raises UsageError where a worker would not grade as the others do, and where the scheduler
        or all its workers are gone."""
        return self._do(self._graded(job))

    def close(self) -> None:
        """Takes back what was not graded and leaves the scheduler; its workers stay."""
        self._why = _CLOSED
        with contextlib.suppress(Exception):
            self._do(self._end()).result(CONNECT_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _do(self, what: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(what, self._loop)

    # What follows runs in the loop's thread.

    async def _begin(self) -> None:
        for name in ("distributed", "distributed.client"):
            # Dask tells of a lost connection as well, in a screen full of lines.
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            async with asyncio.timeout(CONNECT_SECONDS + 1):  # something else may listen there
                self._client = await Client(
                    self._address, asynchronous=True, timeout=CONNECT_SECONDS, set_as_default=False
                )
        except Exception as error:  # a name, a port, a certificate: it raises all sorts of things
            secured = self._address.startswith("tls:")
            certificates = "; Dask's configuration has to name your certificates" if secured else ""
            raise UsageError(
                f"--scheduler {self._address}: no Dask scheduler can be reached there "
                f"({str(error) or 'no answer'}); give the address that `dask scheduler` printed, "
                f"as in tcp://10.0.0.5:8786{certificates}"
            ) from None
        try:
            await self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            raise UsageError(
                f"--scheduler {self._address}: it has no workers, nor got one in "
                f"{WORKER_SECONDS:.0f} s; start some first: dask worker {self._address}"
            ) from None
        await self._look_at_workers()
        self._watching = asyncio.create_task(self._watch())

    async def _look_at_workers(self) -> None:
        """Sets what is told of the workers; UsageError where they are not of one kind."""
        found = await self._client.run(station.look, self._terms, on_error="return")
        seen = [each for each in found.values() if isinstance(each, Seen)]
        if seen:
            self.apart, self.versions = seen[0].apart, seen[0].versions
        wrong = []
        for address, each in found.items():
            if isinstance(each, Refused):
                wrong.append(self._told(each))
            elif isinstance(each, OSError):
                pass  # it has left meanwhile
            elif not isinstance(each, Seen):
                wrong.append(_cannot_run(f"the worker at {address}", each))
            elif (unlike := station.unlike_layers(each.apart, self.apart.layers)) is not None:
                wrong.append(self._told(Refused(each.worker, unlike)))
        if wrong or not seen:
            others = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            raise UsageError("".join(wrong[:1]) + others or f"{self._why}: its workers are gone")
        self.count = sum((await self._client.nthreads()).values())

    async def _watch(self) -> None:
        """Keeps count of the workers' threads, and gives up once there is none for long."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            with contextlib.suppress(Exception):  # of a lost connection every waiting file tells
                if threads := sum((await self._client.nthreads()).values()):
                    self.count, last = threads, time.monotonic()
            if time.monotonic() - last > GONE_SECONDS:
                self._why = (
                    f"--scheduler {self._address}: no workers for {GONE_SECONDS:.0f} s; {_KEPT}"
                )
                self._give_up()

    async def _graded(self, job: Job) -> Report | FaultReport:
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            answer = await self._asked(job)
            if answer is None:
                # Dask blames every file that was at a worker that died. Tried again one by one,
                # those that did no more than wait there are graded.
                async with self._suspecting:
                    answer = await self._asked(job)
        except (CancelledError, asyncio.CancelledError):
            raise UsageError(self._why) from None
        except Exception as error:
            raise UsageError(_cannot_run("a worker", error)) from None
        finally:
            self._waiting.discard(task)
        if isinstance(answer, Refused):
            raise UsageError(f"{self._told(answer)} ({_KEPT})")
        if isinstance(answer, UsageError):
            raise answer
        return answer or fault(self._kit, job, _KILLED)

    async def _asked(self, job: Job) -> Report | FaultReport | Refused | UsageError | None:
        """What a worker answers; None where so many have died meanwhile that Dask gives up."""
        self._number += 1
        key = f"grade-{self._batch}-{self._number}"
        try:
            answer: Report | FaultReport | Refused | UsageError = await self._client.submit(
                station.grade, self._terms, self.apart.layers, job, key=key
            )
        except KilledWorker:
            return None
        return answer

    def _told(self, refused: Refused) -> str:
        said = f"worker {refused.worker}: {refused.reason}"
        if not refused.files:
            return said
        ours = files(self._kit, self._terms.slugs)
        unlike = [name for name, digest in ours.items() if refused.files.get(name) != digest]
        unlike += [name for name in refused.files if name not in ours]
        more = f" and {len(unlike) - 1} more" if len(unlike) > 1 else ""
        return f"{said} (not the same: {''.join(sorted(unlike)[:1])}{more})"

    def _give_up(self) -> None:
        for task in [*self._waiting]:
            task.cancel()

    async def _end(self) -> None:
        self._give_up()
        if self._watching is not None:
            self._watching.cancel()
        if self._client is not None:
            await self._client.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}  # of a client that never came to be
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _cannot_run(what: str, error: object) -> str:
    return (
        f"{what} cannot grade ({type(error).__name__}: {error}); install the same "
        "speculative-exercises[cluster] for the scheduler and its workers, and start them again"
    )
