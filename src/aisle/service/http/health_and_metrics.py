"""Pages for operators: `health` (this process runs), `ready` (it accepts requests), and the metrics."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from aisle.contract.operations import EXTENSION_AREA, define
from aisle.service.db.database_interface import Database, DatabaseFailed, Transaction
from aisle.service.db.statements import logs_and_changes as changes_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.errors import JSON_TYPE, SUCCESS, Refusal
from aisle.service.handlers.registry import Handler, ServedOperation
from aisle.service.http.endpoint import OperationEndpoint, refusal_response
from aisle.service.operation_context import CHAIN, Context, OperationCall

if TYPE_CHECKING:
    from aisle.service.http.metrics import Metrics

log = logging.getLogger("aisle.service")

METRICS_PATH = "/metrics"

_PROBE_COUNTER = "probe"

WRITE_PROBE_S, FAILED_WRITE_PROBE_S = 30.0, 2.0
"""Seconds between two writes of the probe, while they succeed and after one failed."""

WRITE_TIMEOUT_S = 0.3

READY_TIMEOUT_S = 1.5
"""Seconds that the database may take to answer before the process counts as not ready."""

RequestHandler = Callable[[Request], Awaitable[Response]]


async def answer_health(request: Request) -> Response:
    """Confirm that this process runs, without asking the database."""
    return Response(SUCCESS, media_type=JSON_TYPE)


def ready_page(database: Database, is_leaving: Callable[[], bool]) -> RequestHandler:
    """Return the page that confirms that this process accepts requests: its database can be read and written."""
    probe = DatabaseProbe(database)

    async def answer_ready(request: Request) -> Response:
        if is_leaving():
            raise Refusal(503, "This process is stopping.")
        if not await probe.is_answering():
            raise Refusal(503, "The database does not answer.")
        if not await probe.check_writes():
            raise Refusal(503, "The database cannot be written to.")
        return Response(SUCCESS, media_type=JSON_TYPE)

    return answer_ready


def metrics_page(endpoint: OperationEndpoint, metrics: Metrics) -> RequestHandler:
    """Return the page of the metrics, for this host and for tokens that may read them. A token given is a used one."""
    from aisle.service.http.metrics import CONTENT_TYPE, RecentReaders, is_local, read_database_metrics

    async def nothing(ctx: Context, call: OperationCall) -> bytes:
        return b""

    handler = Handler(nothing, frozenset({"admin", "metrics"}), needs_all_stores=True)
    served = ServedOperation(define("metrics", EXTENSION_AREA, "GET", METRICS_PATH, ""), handler)
    readers = RecentReaders()

    async def figures(request: Request) -> Response:
        note_token_use, is_database_lost = None, False
        if not is_local(request) or "authorization" in request.headers:
            answer = await _answer_in_time(endpoint, served, request)
            authorization = request.headers.get("authorization", "")
            is_database_lost = answer is None or (
                answer.status_code == 503 and not endpoint.database.monitor.is_available
            )
            if answer is not None and answer.status_code == 200:
                readers.add(authorization)
            elif not is_database_lost or not readers.has(authorization):
                return answer or refusal_response(Refusal(503, "The database does not answer."))
            note_token_use = answer.background if answer else None
        stored = (None, {}) if is_database_lost else await read_database_metrics(endpoint.database)
        return Response(metrics.render(*stored), media_type=CONTENT_TYPE, background=note_token_use)

    return figures


async def _answer_in_time(endpoint: OperationEndpoint, operation: ServedOperation, request: Request) -> Response | None:
    """Return the endpoint's response; None if the database does not answer in time."""
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            return await endpoint.handle(operation, request)
    except TimeoutError:
        return None


class DatabaseProbe:
    """Probe of the database, shared by all callers at the same time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: asyncio.Task[bool] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._wrote_at = -math.inf
        self._can_write = True

    async def check_writes(self) -> bool:
        """Return False if the last write failed, as on a full disk. A small one is made now and then.

        A write that waits for others has not failed.
        """
        monitor = self._database.monitor
        pause = WRITE_PROBE_S if self._can_write and monitor.is_available else FAILED_WRITE_PROBE_S
        if (self._writing is None or self._writing.done()) and monotonic() - self._wrote_at >= pause:
            self._wrote_at = monotonic()
            self._writing = asyncio.create_task(self._write())
        if self._writing is not None:
            await asyncio.wait({self._writing}, timeout=WRITE_TIMEOUT_S)
        return self._can_write and monitor.is_available

    async def _write(self) -> None:
        try:
            await self._database.write(_write_database, stores={CHAIN})
        except DatabaseFailed:
            self._can_write = False
        except Exception:  # It waits too long for another writer, for instance.
            log.info("The database was not probed by a write.")
        else:
            self._can_write = True

    async def is_answering(self) -> bool:
        """Return True if the database answers in time. A slow query continues; the next caller waits for it, too."""
        if self._pending is None or self._pending.done():
            self._pending = asyncio.create_task(self._query())
        asking = self._pending
        done, _ = await asyncio.wait({asking}, timeout=READY_TIMEOUT_S)
        return bool(done) and asking.result()

    async def _query(self) -> bool:
        try:
            await self._database.read(_query_database)
        except Exception:  # The database monitor logs the kind of failure.
            return False
        return True


async def _write_database(tx: Transaction) -> None:
    await tx.one(changes_sql.COUNTER_NEXT, CHAIN, _PROBE_COUNTER, 1)


async def _query_database(tx: Transaction) -> None:
    await tx.one(tokens_sql.HAS_DATA)
