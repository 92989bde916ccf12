"""The writing thread. What waits together is stored together: one commit, one sync, several requests.

Each piece of work stands by itself, so one that is refused takes nothing of its neighbours with it. Few are, once they
have written: then all of the transaction is undone and done again, each piece in a savepoint of its own. Its
caller hears what became of it only after the commit, a refusal too: it was judged beside what others had written, and
had that been undone it might have been none. Whoever asks is answered, whatever thread closes it meanwhile: what came
before that is carried out, what comes later is refused.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from itertools import takewhile
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import apsw

from aisle.service.db.database import Busy, DatabaseFailed, DatabaseMonitor, Work, database_failure
from aisle.service.db.sqlite_connection import MustRollBack, SqliteTransaction, public_error, run_sync

T = TypeVar("T")

# A batch is bounded, so that the first of it does not wait for an endless queue.
_MAX_BATCH = 32


class _Job(NamedTuple):
    work: Work[Any]
    future: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None
    """Where its caller waits; None for one that waits without a loop."""
    sent_at: float = 0.0
    """When, by the clock of waits."""

    def is_wanted(self) -> bool:
        """Whether its caller still wants it; asked again where it is done again."""
        if isinstance(self.future, Future):
            return self.future.running() or self.future.set_running_or_notify_cancel()
        return not self.future.cancelled()


class _JobResult(NamedTuple):
    """What became of a job."""

    job: _Job
    result: Any = None
    error: BaseException | None = None


class SqliteWriter:
    """Runs work one piece at a time on its own connection and thread."""

    def __init__(self, connect: Callable[[], apsw.Connection], monitor: DatabaseMonitor | None = None) -> None:
        self._monitor = monitor or DatabaseMonitor()
        self._jobs: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._sent_by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        """What callers of a loop have sent in its present round."""
        self._lock = threading.Lock()
        """Held by whoever puts something in, so that nothing comes after the end."""
        self._is_open = True
        self._is_running = True
        """Whether the end of the queue was not met yet."""
        self._use_savepoints = False
        """Whether the next transaction marks where each piece begins: the one before could not undo one of them."""
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(connect, started), name="aisle-write", daemon=True)
        self._thread.start()
        started.result()

    def submit(self, work: Work[T]) -> Future[T]:
        """Queue `work`; the future ends when it is stored or has failed, with Busy where this is closed."""
        answer: Future[T] = Future()
        with self._lock:
            if self._is_open:
                self._jobs.put([_Job(work, answer, None, monotonic())])
            else:
                answer.set_exception(_closed_error())
        return answer

    def submit_async(self, work: Work[T]) -> asyncio.Future[T]:
        """The same for a caller on an event loop.

        What is sent in one round of the loop is queued together: the thread is woken once for all of it, and does not
        contend with the loop while that still has others to hear.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        job = _Job(work, answer, loop, monotonic())
        with self._lock:
            if not self._is_open:
                answer.set_exception(_closed_error())
            elif (others := self._sent_by_loop.get(loop)) is not None:
                others.append(job)
            else:
                self._sent_by_loop[loop] = [job]
                loop.call_soon(self._enqueue_sent, loop)
        return answer

    def close(self) -> None:
        """Finish what was queued, then close the connection."""
        self._close_queue()
        self._thread.join()

    def _close_queue(self) -> None:
        """Nothing is taken from now on; the thread ends behind what was."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                for jobs in self._sent_by_loop.values():
                    self._jobs.put(jobs)
                self._sent_by_loop.clear()
                self._jobs.put(None)

    def _enqueue_sent(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            if jobs := self._sent_by_loop.pop(loop, None):
                self._jobs.put(jobs)

    def _run(self, connect: Callable[[], apsw.Connection], started: Future[None]) -> None:
        try:
            connection = connect()
        except BaseException as problem:
            started.set_exception(problem)
            return
        tx = SqliteTransaction(connection)
        started.set_result(None)
        waiting: deque[_Job] = deque()
        try:
            while waiting or self._is_running:
                if waiting:
                    self._run_batch(tx, waiting)
                else:
                    self._add_waiting(waiting, self._jobs.get())
        except BaseException as problem:
            self._fail_all(waiting, database_failure(problem))
        finally:
            connection.close()

    def _fail_all(self, waiting: deque[_Job], error: DatabaseFailed) -> None:
        """Nobody carries out what waits any more; who waits for it is told."""
        self._close_queue()
        with suppress(Empty):
            while True:
                self._add_waiting(waiting, self._jobs.get_nowait())
        _deliver([_JobResult(job, error=error) for job in waiting if job.is_wanted()])

    def _run_batch(self, tx: SqliteTransaction, waiting: deque[_Job]) -> None:
        """Run what waits in one transaction, and what comes meanwhile; or find that it has to be done again, carefully.

        Raises what a transaction says that was neither stored nor undone, and cannot be undone now.
        """
        tx.end("ROLLBACK")
        began = monotonic()
        try:
            tx.begin("BEGIN IMMEDIATE")
        except apsw.Error as problem:
            first = waiting.popleft()
            if first.is_wanted():
                _deliver([_JobResult(first, error=public_error(problem))])
            return
        finally:
            self._monitor.report_wait("lock", monotonic() - began)
        tx.is_optimistic, self._use_savepoints = not self._use_savepoints, False
        done: list[_JobResult] = []
        try:
            self._run_jobs(tx, waiting, done)
        except BaseException as problem:  # nobody has heard anything yet
            waiting.extendleft(told.job for told in reversed(done))
            if not isinstance(problem, MustRollBack):
                raise
            self._use_savepoints = True
        else:
            _commit(tx, done)

    def _run_jobs(self, tx: SqliteTransaction, waiting: deque[_Job], results: list[_JobResult]) -> None:
        """Run what waits, and what comes meanwhile. Each goes on waiting until it is done."""
        while waiting:
            self._run_job(tx, waiting[0], results)
            waiting.popleft()
            if len(results) >= _MAX_BATCH or not tx.connection.in_transaction:
                return
            if not waiting:
                try:
                    self._add_waiting(waiting, self._jobs.get_nowait())
                except Empty:
                    return

    def _add_waiting(self, waiting: deque[_Job], jobs: list[_Job] | None) -> None:
        """Take what has come; None is the end of the queue."""
        waiting.extend(jobs or ())
        self._is_running &= jobs is not None

    def _run_job(self, tx: SqliteTransaction, job: _Job, results: list[_JobResult]) -> None:
        if not job.is_wanted():
            return
        self._monitor.report_wait("pool", monotonic() - job.sent_at)
        try:
            results.append(_JobResult(job, run_sync(_in_savepoint(tx, job.work))))
        except MustRollBack:
            raise
        except BaseException as problem:
            results.append(_JobResult(job, error=public_error(problem)))


async def _in_savepoint(tx: SqliteTransaction, work: Work[T]) -> T:
    async with tx.savepoint():
        return await work(tx)


def _commit(tx: SqliteTransaction, results: list[_JobResult]) -> None:
    try:
        if not tx.connection.in_transaction:
            raise DatabaseFailed("The database undid the transaction.")
        tx.end("COMMIT")
    except BaseException as problem:
        results = _results_of_failed_commit(results, public_error(problem))
        with suppress(Exception):  # whatever fails here too, the next one tries again
            tx.end("ROLLBACK")
    finally:
        _deliver(results)


def _results_of_failed_commit(results: list[_JobResult], error: BaseException) -> list[_JobResult]:
    """What becomes of them where nothing is stored: only a refusal that nobody had written before stands."""
    stand = list(takewhile(lambda told: told.error is not None, results))
    return [*stand, *(_JobResult(told.job, error=error) for told in results[len(stand) :])]


def _deliver(results: Iterable[_JobResult]) -> None:
    """Say what became of jobs; each loop is woken once for all of its callers."""
    of_loops: dict[asyncio.AbstractEventLoop, list[_JobResult]] = {}
    for told in results:
        if told.job.loop is None:
            _set_future(told)
        else:
            of_loops.setdefault(told.job.loop, []).append(told)
    for loop, its in of_loops.items():
        try:
            loop.call_soon_threadsafe(_deliver_all, its)
        except RuntimeError:  # the loop has ended, and who waited with it
            continue


def _deliver_all(results: Iterable[_JobResult]) -> None:
    for told in results:
        if not told.job.future.done():
            _set_future(told)


def _set_future(result: _JobResult) -> None:
    if result.error is not None:
        result.job.future.set_exception(result.error)
    else:
        result.job.future.set_result(result.result)


def _closed_error() -> Busy:
    return Busy("The database was closed; nothing was changed.")
