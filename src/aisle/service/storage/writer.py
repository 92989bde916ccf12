"""The writing thread. What waits together is stored together: one commit, one sync, several requests.

Each piece of work stands in a savepoint of its own, so one that is refused takes nothing of its neighbours with it. Its
caller hears "stored" only after the commit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

import apsw

from aisle.service.storage.base import Busy, Lost, Work, failed
from aisle.service.storage.connection import SqliteTx, drive

T = TypeVar("T")

# A batch is bounded, so that the first of it does not wait for an endless queue.
_BATCH = 32


class _Job(NamedTuple):
    work: Work[Any]
    answer: Future[Any]


class Writer:
    """Runs work one piece at a time on its own connection and thread."""

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(connect, started), name="aisle-write", daemon=True)
        self._thread.start()
        started.result()

    def submit(self, work: Work[T]) -> Future[T]:
        """Queue `work`; the future ends when it is stored or has failed."""
        answer: Future[T] = Future()
        self._jobs.put(_Job(work, answer))
        return answer

    def close(self) -> None:
        """Finish what was queued, then close the connection."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self, connect: Callable[[], apsw.Connection], started: Future[None]) -> None:
        try:
            connection = connect()
        except BaseException as problem:
            started.set_exception(problem)
            return
        tx = SqliteTx(connection)
        started.set_result(None)
        while (job := self._jobs.get()) is not None:
            if not self._batch(tx, job):
                break
        connection.close()

    def _batch(self, tx: SqliteTx, job: _Job) -> bool:
        """Run `job` and what waits behind it in one transaction. False when the end of the queue was met."""
        try:
            tx.begin("BEGIN IMMEDIATE")
        except apsw.Error as problem:
            if job.answer.set_running_or_notify_cancel():
                job.answer.set_exception(_outside(problem))
            return True
        done: list[tuple[_Job, Any]] = []
        more: _Job | None = job
        while more is not None:
            self._one(tx, more, done)
            if len(done) >= _BATCH or not tx.connection.in_transaction:
                break
            try:
                more = self._jobs.get_nowait()
            except Empty:
                break
        _store(tx, done)
        return more is not None

    def _one(self, tx: SqliteTx, job: _Job, done: list[tuple[_Job, Any]]) -> None:
        if not job.answer.set_running_or_notify_cancel():
            return
        try:
            done.append((job, drive(_guarded(tx, job.work))))
        except Exception as problem:
            job.answer.set_exception(_outside(problem))
        except BaseException as problem:
            job.answer.set_exception(problem)
            raise


async def _guarded(tx: SqliteTx, work: Work[T]) -> T:
    async with tx.savepoint():
        return await work(tx)


def _store(tx: SqliteTx, done: list[tuple[_Job, Any]]) -> None:
    try:
        if not tx.connection.in_transaction:
            raise Lost("The database undid the transaction.")
        tx.end("COMMIT")
    except Exception as problem:
        tx.end("ROLLBACK")
        for job, _ in done:
            job.answer.set_exception(_outside(problem))
        return
    for job, answer in done:
        job.answer.set_result(answer)


def _outside(problem: Exception) -> Exception:
    """The failure as callers know it, whatever the engine calls it."""
    if isinstance(problem, apsw.BusyError):
        return Busy("Another writer holds the database; try again.")
    if isinstance(problem, (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.CantOpenError, apsw.ReadOnlyError)):
        return failed(problem)
    return problem
