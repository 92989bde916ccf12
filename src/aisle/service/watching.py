"""What operators and their machines ask: whether it lives, whether it is ready, and figures (README: Running it)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response

from aisle.service.answers import JSON, Refusal
from aisle.service.asked import Answer, Operation
from aisle.service.context import Call, Context
from aisle.service.gate import Gate, response
from aisle.service.handlers import Handler
from aisle.service.openapi import HEALTH, READY
from aisle.service.sizes import Sizes
from aisle.service.sql import core
from aisle.service.storage import Storage, Tx

if TYPE_CHECKING:
    from aisle.service.metrics import Metrics

METRICS = "/metrics"
READY_SECONDS = 1.5
"""So long the database may take to answer, before it is said that no requests should come here."""


def add_watching(app: FastAPI, gate: Gate, metrics: Metrics | None, leaving: Callable[[], bool]) -> None:
    """Add the routes; figures only where they are kept. `leaving` tells whether this process is about to end."""
    probe = _Probe(gate.storage)

    async def health() -> Response:
        """Whether this process lives, whatever its database does. Needs no token and tells nothing else."""
        return _good()

    async def ready() -> Response:
        """Whether requests should come here. Needs no token."""
        if leaving():
            return response(Answer(503, Refusal(503, "This process is leaving.").body()))
        if not await probe.answers():
            return response(Answer(503, Refusal(503, "The database does not answer.").body()))
        return _good()

    app.add_api_route(HEALTH, health, methods=["GET"], response_class=Response)
    app.add_api_route(READY, ready, methods=["GET"], response_class=Response)
    if metrics is not None:
        _add_metrics(app, gate, metrics)


def _add_metrics(app: FastAPI, gate: Gate, metrics: Metrics) -> None:
    from aisle.service.metrics import KIND, from_here

    async def nothing(ctx: Context, call: Call) -> bytes:
        return b""

    asked = Operation("metrics", (), None, False, Handler(nothing, frozenset({"admin", "metrics"}), chain=True))

    sizes = Sizes(gate.storage)

    async def figures(request: Request) -> Response:
        if not from_here(request):
            answer = await gate.answer(asked, request)
            if answer.status_code != 200:
                return answer
        await sizes.look()
        return Response(metrics.text(sizes.known), media_type=KIND)

    app.add_api_route(METRICS, figures, methods=["GET"], include_in_schema=False)


class _Probe:
    """Asks the database whether it answers, once for all who want to know at the same time."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._asking: asyncio.Task[bool] | None = None

    async def answers(self) -> bool:
        """Whether it does so in time; the question goes on, and the next one who wants to know waits for it too."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        asking = self._asking
        done, _ = await asyncio.wait({asking}, timeout=READY_SECONDS)
        return bool(done) and asking.result()

    async def _ask(self) -> bool:
        try:
            await self._storage.read(_touch)
        except Exception:  # the watch of the storage says which
            return False
        return True


def _good() -> Response:
    return Response(b'{"success":true}', media_type=JSON)


async def _touch(tx: Tx) -> None:
    await tx.one(core.IS_FILLED)
