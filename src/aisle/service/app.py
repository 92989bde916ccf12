"""The service as an ASGI app: routes and OpenAPI page made from the contract's table and the table of handlers.

FastAPI is imported here alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import time
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aisle.contract.wire import OPERATIONS
from aisle.errors import StorageError
from aisle.service.access import Access
from aisle.service.answers import Refusal
from aisle.service.asked import Answer, Operation
from aisle.service.bodies import read_body
from aisle.service.dispatch import Dispatch, Way
from aisle.service.docs import add_docs
from aisle.service.door import Door
from aisle.service.extensions import EXTENSIONS
from aisle.service.gate import Gate, response
from aisle.service.handlers import HANDLERS
from aisle.service.limits import Rates
from aisle.service.openapi import document
from aisle.service.pages import SCROLL
from aisle.service.storage import Storage
from aisle.service.times import Clock
from aisle.service.watching import add_watching

if TYPE_CHECKING:
    from aisle.service.metrics import Metrics

_RATES = Rates()


def create_app(
    storage: Storage,
    *,
    clock: Clock = time,
    rates: Rates = _RATES,
    access: Access | None = None,
    metrics: Metrics | None = None,
) -> FastAPI:
    """The app over a storage. It owns nothing: whoever opened the storage closes it.

    `access` hears of each request, `metrics` counts them and is told at `/metrics`.
    """
    app = _App(title="Store Operations Service", redirect_slashes=False, docs_url=None, redoc_url=None)
    add_docs(app)
    gate = Gate(storage, clock, rates)
    ways: list[Way] = []
    for name, handler in HANDLERS.items():
        row = OPERATIONS[name]
        adapter = read_body(row) if row.body else None
        params = (*row.params, SCROLL) if row.paging == "envelope" else row.params
        operation = Operation(name, params, adapter, row.write, handler)
        ways.append(Way(operation, row.method, row.path))
    for extension in EXTENSIONS:
        writes = extension.method != "GET"
        operation = Operation(extension.name, extension.params, extension.adapter, writes, extension.handler)
        ways.append(Way(operation, extension.method, extension.path))
    for way in ways:
        _add(app, gate, way)
    add_watching(app, gate, storage, metrics)
    app.add_exception_handler(HTTPException, _no_route)
    app.add_exception_handler(StorageError, _no_storage)
    app.openapi = document  # type: ignore[method-assign]
    app.stand_behind(lambda inside: Door(Dispatch(inside, gate, ways), access, clock, metrics))
    return app


class _App(FastAPI):
    """FastAPI's app behind the door. What FastAPI itself does for each request is for those that the door lets on."""

    door: Door

    def stand_behind(self, door: Callable[[ASGIApp], Door]) -> None:
        """All requests come to this door, which is told where it goes on."""
        self.door = door(super().__call__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See FastAPI."""
        await self.door(scope, receive, send)


def _add(app: FastAPI, gate: Gate, way: Way) -> None:
    app.add_api_route(
        way.path,
        _endpoint(gate, way.operation),
        methods=[way.method],
        name=way.operation.name,
        response_model=None,
        response_class=Response,
    )


def _endpoint(gate: Gate, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await gate.answer(operation, request)

    return endpoint


async def _no_route(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    message = {404: "There is no such operation here.", 405: "This path is used with another method."}
    status = problem.status_code
    answer = response(Answer(status, Refusal(status, message.get(status, str(problem.detail))).body()))
    answer.headers.update(problem.headers or {})
    if status == 405:
        answer.headers["Allow"] = ", ".join(_methods(request))
    return answer


def _methods(request: Request) -> list[str]:
    """The methods with which this path is used: each has a route of its own."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    here = [route for route in routes if route.matches(request.scope)[0] != Match.NONE]
    return sorted({method for route in here for method in route.methods or ()})


async def _no_storage(request: Request, problem: Exception) -> Response:
    return response(Answer(503, Refusal(503, str(problem)).body()))
