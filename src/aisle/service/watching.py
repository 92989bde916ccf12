"""What operators and their machines ask: whether it lives, whether it is ready, and figures (README: Running it)."""

from __future__ import annotations

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
from aisle.service.storage import Tx

if TYPE_CHECKING:
    from aisle.service.metrics import Metrics

METRICS = "/metrics"


def add_watching(app: FastAPI, gate: Gate, metrics: Metrics | None, leaving: Callable[[], bool]) -> None:
    """Add the routes; figures only where they are kept. `leaving` tells whether this process is about to end."""
    storage = gate.storage

    async def health() -> Response:
        """Whether the service can read its database. Needs no token and tells nothing else."""
        await storage.read(_touch)
        return _good()

    async def ready() -> Response:
        """Whether requests should come here. Needs no token."""
        if leaving():
            return response(Answer(503, Refusal(503, "This process is about to end.").body()))
        await storage.read(_touch)
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


def _good() -> Response:
    return Response(b'{"success":true}', media_type=JSON)


async def _touch(tx: Tx) -> None:
    await tx.one(core.IS_FILLED)
