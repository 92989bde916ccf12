"""Writer thread. Waiting requests are committed together: several requests, one commit, one sync.

A refused request does not affect the others of its transaction: each has a savepoint. A caller gets its result after
the commit, also a refusal, since a refusal may depend on writes of others that could be rolled back. Every caller gets
a result: requests before `close` run, later ones raise Busy.

Callers take turns: however many requests of one caller wait, another one's is among the next.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import apsw

from aisle.server.caller_turns import Caller, CallerQueue
from aisle.service.db.database_interface import CALLER, Busy, DatabaseFailed, DatabaseMonitor, Work, database_failure
from aisle.service.db.schema_and_search_index import are_products_waiting, index_waiting_products
from aisle.service.db.sqlite_connection_and_transaction import NextWriter, SqliteTransaction, public_error, run_sync

T = TypeVar("T")

# The batch is limited, so that its first request does not wait for an endless queue, nor for long requests.
_MAX_BATCH = 32
_MAX_BATCH_SECONDS = 0.05
"""Seconds after which a transaction begins no further request."""


class _Job(NamedTuple):
    work: Work[Any]
    future: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None
    """Loop on which the caller waits; None if it waits without a loop."""
    sent_at: float = 0.0
    """Time of the submission, by the monotonic clock."""
    caller: Caller = Caller()

    def is_wanted(self) -> bool:
        """Return True if the caller still waits for the result. It is asked again if the thread fails."""
        if isinstance(self.future, Future):
            return self.future.running() or self.future.set_running_or_notify_cancel()
        return not self.future.cancelled()


class _JobResult(NamedTuple):
    """Result or error of a job."""

    job: _Job
    result: Any = None
    error: BaseException | None = None


class SqliteWriter:
    """Writer that runs jobs one at a time on its own connection and thread."""

    def __init__(self, connect: Callable[[], apsw.Connection], monitor: DatabaseMonitor | None = None) -> None:
        self._monitor = monitor or DatabaseMonitor()
        self._jobs: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._sent_by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        """Jobs that callers of a loop sent in its current iteration."""
        self._lock = threading.Lock()
        """Lock for adding jobs, so that none is added after the end."""
        self._is_open = True
        self._is_running = True
        """True until the end of the queue was read."""
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(connect, started), name="aisle-write", daemon=True)
        self._thread.start()
        started.result()

    def submit(self, work: Work[T]) -> Future[T]:
        """Queue `work`. The future ends when it is committed or has failed, with Busy if the writer is closed."""
        answer: Future[T] = Future()
        with self._lock:
            if self._is_open:
                self._jobs.put([_Job(work, answer, None, monotonic(), CALLER.get())])
            else:
                answer.set_exception(_closed_error())
        return answer

    def submit_async(self, work: Work[T]) -> asyncio.Future[T]:
        """Queue `work` of a caller on an event loop.

        Jobs of one iteration of the loop are queued together, so that the thread wakes once and does not contend with
        the loop.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        job = _Job(work, answer, loop, monotonic(), CALLER.get())
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
        """Finish the queued jobs, then close the connection."""
        self._close_queue()
        self._thread.join()

    def _close_queue(self) -> None:
        """Accept no more jobs. The thread ends after the queued ones."""
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
        next_writer = NextWriter(Path(connection.filename))
        tx = SqliteTransaction(connection)
        tx.has_waiting_products = True  # An earlier process may have left some.
        started.set_result(None)
        waiting = CallerQueue[_Job]()
        try:
            while waiting or self._is_running:
                if waiting:
                    self._run_batch(tx, waiting, next_writer)
                elif not tx.has_waiting_products:
                    self._add_waiting(waiting, self._jobs.get())
                if tx.has_waiting_products and self._is_running:
                    _index_products(tx, next_writer)
                self._add_arrived(waiting)
        except BaseException as problem:
            self._fail_all(waiting, database_failure(problem))
        finally:
            connection.close()
            next_writer.close()

    def _fail_all(self, waiting: CallerQueue[_Job], error: DatabaseFailed) -> None:
        """Close the queue and report the failure to all waiting callers."""
        self._close_queue()
        self._add_arrived(waiting)
        self._fail_waiting(waiting, error)

    def _fail_waiting(self, waiting: CallerQueue[_Job], error: BaseException) -> None:
        """Report the failure to all waiting callers, since each has waited for it."""
        while waiting:
            if (job := waiting.take()).is_wanted():
                _deliver([_JobResult(job, error=error)])

    def _run_batch(self, tx: SqliteTransaction, waiting: CallerQueue[_Job], next_writer: NextWriter) -> None:
        """Run the waiting jobs, and those that arrive meanwhile, in one transaction.

        Raise the error of a transaction that can be neither committed nor rolled back.
        """
        tx.end("ROLLBACK")
        began = monotonic()
        try:
            with next_writer.taken():
                tx.begin("BEGIN IMMEDIATE")
        except apsw.Error as problem:
            self._fail_waiting(waiting, public_error(problem))
            return
        finally:
            self._monitor.report_wait("lock", monotonic() - began)
        done: list[_JobResult] = []
        try:
            self._run_jobs(tx, waiting, done)
        except BaseException:  # No caller has a result yet.
            for result in done:
                waiting.add(result.job.caller, result.job)
            raise
        _commit(tx, done)

    def _run_jobs(self, tx: SqliteTransaction, waiting: CallerQueue[_Job], results: list[_JobResult]) -> None:
        """Run the waiting jobs, and those that arrive meanwhile. A job that fails goes back to `waiting`."""
        until = monotonic() + _MAX_BATCH_SECONDS
        while waiting:
            job = waiting.take()
            try:
                self._run_job(tx, job, results)
            except BaseException:
                waiting.add(job.caller, job)
                raise
            if len(results) >= _MAX_BATCH or monotonic() >= until or not _may_commit(tx):
                return
            self._add_arrived(waiting)

    def _add_arrived(self, waiting: CallerQueue[_Job]) -> None:
        """Add the jobs of all entries of the queue."""
        with suppress(Empty):
            while True:
                self._add_waiting(waiting, self._jobs.get_nowait())

    def _add_waiting(self, waiting: CallerQueue[_Job], jobs: list[_Job] | None) -> None:
        """Add jobs from the queue; None is its end."""
        for job in jobs or ():
            waiting.add(job.caller, job)
        self._is_running &= jobs is not None

    def _run_job(self, tx: SqliteTransaction, job: _Job, results: list[_JobResult]) -> None:
        if not job.is_wanted():
            return
        self._monitor.report_wait("pool", monotonic() - job.sent_at)
        try:
            results.append(_JobResult(job, run_sync(_in_savepoint(tx, job.work))))
        except BaseException as problem:
            results.append(_JobResult(job, error=public_error(problem)))


def _index_products(tx: SqliteTransaction, next_writer: NextWriter) -> None:
    """Index some of the waiting products. They are found nevertheless, so the next write of products may try again."""
    try:
        tx.has_waiting_products = are_products_waiting(tx.connection)
        if tx.has_waiting_products:
            with next_writer.taken():
                tx.begin("BEGIN IMMEDIATE")
            index_waiting_products(tx.connection)
            tx.end("COMMIT")
    except apsw.Error:
        tx.has_waiting_products = False
        with suppress(apsw.Error):
            tx.end("ROLLBACK")


async def _in_savepoint(tx: SqliteTransaction, work: Work[T]) -> T:
    async with tx.savepoint():
        return await work(tx)


def _may_commit(tx: SqliteTransaction) -> bool:
    """Return False if the database has ended the transaction, or could not undo a failed part of it."""
    return tx.connection.in_transaction and not tx.is_damaged


def _commit(tx: SqliteTransaction, results: list[_JobResult]) -> None:
    try:
        if not _may_commit(tx):
            raise DatabaseFailed("The database undid the transaction.")
        tx.end("COMMIT")
    except BaseException as problem:
        results = _results_of_failed_commit(results, public_error(problem))
        with suppress(Exception):  # If the rollback fails too, the next transaction tries again.
            tx.end("ROLLBACK")
    finally:
        _deliver(results)


def _results_of_failed_commit(results: list[_JobResult], error: BaseException) -> list[_JobResult]:
    """Return the results after a failed commit. Only refusals before the first write remain valid."""
    valid = list(takewhile(lambda result: result.error is not None, results))
    return [*valid, *(_JobResult(result.job, error=error) for result in results[len(valid) :])]


def _deliver(results: Iterable[_JobResult]) -> None:
    """Deliver results. Each loop is woken once for all its callers."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_JobResult]] = {}
    for result in results:
        if result.job.loop is None:
            _set_future(result)
        else:
            by_loop.setdefault(result.job.loop, []).append(result)
    for loop, loop_results in by_loop.items():
        try:
            loop.call_soon_threadsafe(_deliver_all, loop_results)
        except RuntimeError:  # The loop has ended, and its callers with it.
            continue


def _deliver_all(results: Iterable[_JobResult]) -> None:
    for result in results:
        if not result.job.future.done():
            _set_future(result)


def _set_future(result: _JobResult) -> None:
    if result.error is not None:
        result.job.future.set_exception(result.error)
    else:
        result.job.future.set_result(result.result)


def _closed_error() -> Busy:
    return Busy("The database was closed; nothing was changed.")
