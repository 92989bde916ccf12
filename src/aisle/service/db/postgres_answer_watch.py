"""Watch for a PostgreSQL server that accepts connections and answers nothing, as one that was stopped."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from time import monotonic

import asyncpg

from aisle.service.db.availability_monitor import DatabaseMonitor

PATIENCE_S = 5.0
"""Seconds without a finished transaction while one runs, after which a new connection is tried; and that it gets."""
_INTERVAL_S = 1.0


class ServerNotAnswering(TimeoutError):
    """Server that does not answer although the pool has free connections."""


class AnswerWatch:
    """Watch of one server for an event loop, in which all its methods are called.

    A transaction may last, so a long one proves nothing. Then a new connection shows whether the server answers.
    """

    def __init__(self, dsn: str, monitor: DatabaseMonitor) -> None:
        self._dsn = dsn
        self._monitor = monitor
        self._began_at: dict[object, float] = {}
        """Beginning of each job that runs, the oldest first."""
        self._answered_at = -math.inf
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Watch no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def begin_job(self, job: object) -> None:
        """Record that a job begins, which waits for the server."""
        self._began_at[job] = monotonic()

    def finish_job(self, job: object) -> None:
        """Record that a job has ended."""
        self._began_at.pop(job, None)

    def note_answer(self) -> None:
        """Record that the server has finished a transaction."""
        self._answered_at = monotonic()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL_S)
            asked_at = monotonic()
            waits_since = max(next(iter(self._began_at.values()), math.inf), self._answered_at)
            if asked_at - waits_since < PATIENCE_S or await self._is_answering() or self._answered_at > asked_at:
                continue
            self._monitor.report_failure("reads", error=ServerNotAnswering.__name__)

    async def _is_answering(self) -> bool:
        """Return False if a new connection gets no answer in time. Jobs report other failures themselves."""
        try:
            connection = await asyncpg.connect(self._dsn, timeout=PATIENCE_S)
        except TimeoutError:
            return False
        except Exception:
            return True
        with suppress(Exception):
            await connection.close(timeout=PATIENCE_S)
        return True
