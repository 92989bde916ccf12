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
from typing import Any, TypeVar

import apsw

from aisle.service.storage.base import Busy, Lost, Work, failed
from aisle.service.storage.connection import Entangled, SqliteTx, drive, outside
from aisle.service.storage.watch import Watch
from aisle.tuples import NamedTuple

T = TypeVar("T")

# A batch is bounded, so that the first of it does not wait for an endless queue.
_BATCH = 32


class _Job(NamedTuple):
    work: Work[Any]
    answer: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None
    """Where its caller waits; None for one that waits without a loop."""
    sent: float = 0.0
    """When, by the clock of waits."""

    def begins(self) -> bool:
        """Whether its caller still wants it; asked again where it is done again."""
        if isinstance(self.answer, Future):
            return self.answer.running() or self.answer.set_running_or_notify_cancel()
        return not self.answer.cancelled()


class _Told(NamedTuple):
    """What became of a job."""

    job: _Job
    result: Any = None
    problem: BaseException | None = None


class Writer:
    """Runs work one piece at a time on its own connection and thread."""

    def __init__(self, connect: Callable[[], apsw.Connection], watch: Watch | None = None) -> None:
        self._watch = watch or Watch()
        self._jobs: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._sent: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        """What callers of a loop have sent in its present round."""
        self._door = threading.Lock()
        """Held by whoever puts something in, so that nothing comes after the end."""
        self._is_open = True
        self._goes_on = True
        """Whether the end of the queue was not met yet."""
        self._careful = False
        """Whether the next transaction marks where each piece begins: the one before could not undo one of them."""
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(connect, started), name="aisle-write", daemon=True)
        self._thread.start()
        started.result()

    def submit(self, work: Work[T]) -> Future[T]:
        """Queue `work`; the future ends when it is stored or has failed, with Busy where this is closed."""
        answer: Future[T] = Future()
        with self._door:
            if self._is_open:
                self._jobs.put([_Job(work, answer, None, monotonic())])
            else:
                answer.set_exception(_closed())
        return answer

    def send(self, work: Work[T]) -> asyncio.Future[T]:
        """The same for a caller on an event loop.

        What is sent in one round of the loop is queued together: the thread is woken once for all of it, and does not
        contend with the loop while that still has others to hear.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        job = _Job(work, answer, loop, monotonic())
        with self._door:
            if not self._is_open:
                answer.set_exception(_closed())
            elif (others := self._sent.get(loop)) is not None:
                others.append(job)
            else:
                self._sent[loop] = [job]
                loop.call_soon(self._hand_over, loop)
        return answer

    def close(self) -> None:
        """Finish what was queued, then close the connection."""
        self._end()
        self._thread.join()

    def _end(self) -> None:
        """Nothing is taken from now on; the thread ends behind what was."""
        with self._door:
            if self._is_open:
                self._is_open = False
                for jobs in self._sent.values():
                    self._jobs.put(jobs)
                self._sent.clear()
                self._jobs.put(None)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._door:
            if jobs := self._sent.pop(loop, None):
                self._jobs.put(jobs)

    def _run(self, connect: Callable[[], apsw.Connection], started: Future[None]) -> None:
        try:
            connection = connect()
        except BaseException as problem:
            started.set_exception(problem)
            return
        tx = SqliteTx(connection)
        started.set_result(None)
        waiting: deque[_Job] = deque()
        try:
            while waiting or self._goes_on:
                if waiting:
                    self._batch(tx, waiting)
                else:
                    self._more(waiting, self._jobs.get())
        except BaseException as problem:
            self._break_down(waiting, failed(problem))
        finally:
            connection.close()

    def _break_down(self, waiting: deque[_Job], problem: Lost) -> None:
        """Nobody carries out what waits any more; who waits for it is told."""
        self._end()
        with suppress(Empty):
            while True:
                self._more(waiting, self._jobs.get_nowait())
        _tell([_Told(job, problem=problem) for job in waiting if job.begins()])

    def _batch(self, tx: SqliteTx, waiting: deque[_Job]) -> None:
        """Run what waits in one transaction, and what comes meanwhile; or find that it has to be done again, carefully.

        Raises what a transaction says that was neither stored nor undone, and cannot be undone now.
        """
        tx.end("ROLLBACK")
        began = monotonic()
        try:
            tx.begin("BEGIN IMMEDIATE")
        except apsw.Error as problem:
            first = waiting.popleft()
            if first.begins():
                _tell([_Told(first, problem=outside(problem))])
            return
        finally:
            self._watch.waited("lock", monotonic() - began)
        tx.hopeful, self._careful = not self._careful, False
        done: list[_Told] = []
        try:
            self._carry_out(tx, waiting, done)
        except BaseException as problem:  # nobody has heard anything yet
            waiting.extendleft(told.job for told in reversed(done))
            if not isinstance(problem, Entangled):
                raise
            self._careful = True
        else:
            _store(tx, done)

    def _carry_out(self, tx: SqliteTx, waiting: deque[_Job], done: list[_Told]) -> None:
        """Run what waits, and what comes meanwhile. Each goes on waiting until it is done."""
        while waiting:
            self._one(tx, waiting[0], done)
            waiting.popleft()
            if len(done) >= _BATCH or not tx.connection.in_transaction:
                return
            if not waiting:
                try:
                    self._more(waiting, self._jobs.get_nowait())
                except Empty:
                    return

    def _more(self, waiting: deque[_Job], jobs: list[_Job] | None) -> None:
        """Take what has come; None is the end of the queue."""
        waiting.extend(jobs or ())
        self._goes_on &= jobs is not None

    def _one(self, tx: SqliteTx, job: _Job, done: list[_Told]) -> None:
        if not job.begins():
            return
        self._watch.waited("pool", monotonic() - job.sent)
        try:
            done.append(_Told(job, drive(_guarded(tx, job.work))))
        except Entangled:
            raise
        except BaseException as problem:
            done.append(_Told(job, problem=outside(problem)))


async def _guarded(tx: SqliteTx, work: Work[T]) -> T:
    async with tx.savepoint():
        return await work(tx)


def _store(tx: SqliteTx, done: list[_Told]) -> None:
    try:
        if not tx.connection.in_transaction:
            raise Lost("The database undid the transaction.")
        tx.end("COMMIT")
    except BaseException as problem:
        done = _unstored(done, outside(problem))
        with suppress(Exception):  # whatever fails here too, the next one tries again
            tx.end("ROLLBACK")
    finally:
        _tell(done)


def _unstored(done: list[_Told], problem: BaseException) -> list[_Told]:
    """What becomes of them where nothing is stored: only a refusal that nobody had written before stands."""
    stand = list(takewhile(lambda told: told.problem is not None, done))
    return [*stand, *(_Told(told.job, problem=problem) for told in done[len(stand) :])]


def _tell(done: Iterable[_Told]) -> None:
    """Say what became of jobs; each loop is woken once for all of its callers."""
    of_loops: dict[asyncio.AbstractEventLoop, list[_Told]] = {}
    for told in done:
        if told.job.loop is None:
            _answer(told)
        else:
            of_loops.setdefault(told.job.loop, []).append(told)
    for loop, its in of_loops.items():
        try:
            loop.call_soon_threadsafe(_answer_all, its)
        except RuntimeError:  # the loop has ended, and who waited with it
            continue


def _answer_all(done: Iterable[_Told]) -> None:
    for told in done:
        if not told.job.answer.done():
            _answer(told)


def _answer(told: _Told) -> None:
    if told.problem is not None:
        told.job.answer.set_exception(told.problem)
    else:
        told.job.answer.set_result(told.result)


def _closed() -> Busy:
    return Busy("The database was closed; nothing was changed.")
