"""Direct routing of requests to operations, without the layers of FastAPI.

FastAPI's routes (`fastapi_app`) know the operations too, for the document and for wrong methods. Its layers add nothing
for an operation, since `endpoint` reads the request and answers every outcome. They would take longer than `endpoint`
itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from time import time
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aisle.contract.models.extensions import request_body_adapter
from aisle.contract.wire import OPERATIONS
from aisle.service.db import Database
from aisle.service.domain.timestamps import HOST_TIME_ZONE, Clock, TimeZones
from aisle.service.handlers.extensions import EXTENSIONS
from aisle.service.handlers.list_response import SCROLL_PARAM
from aisle.service.handlers.registry import HANDLERS, ServedOperation
from aisle.service.http.endpoint import OperationEndpoint, OperationRoute
from aisle.service.http.json_logging import RequestRecorder
from aisle.service.http.middleware import RequestMiddleware
from aisle.service.limits import KEYS_KEPT_DAYS, RateLimits

if TYPE_CHECKING:
    from fastapi import FastAPI

    from aisle.service.http.metrics import Metrics


_PARAMETER = re.compile(r"\{(\w+)\}")


class _MethodRoutes:
    """Routes of one method, matched by one expression. The first matching route wins."""

    def __init__(self, routes: Iterable[OperationRoute]) -> None:
        parts: list[str] = []
        self._operations: dict[int, tuple[ServedOperation, tuple[str, ...]]] = {}
        group = 1
        for route in routes:
            names = tuple(_PARAMETER.findall(route.path))
            self._operations[group] = (route.operation, names)
            literals = [re.escape(text) for text in _PARAMETER.split(route.path)[::2]]
            parts.append("(" + "([^/]+)".join(literals) + ")")
            group += 1 + len(names)
        self._pattern = re.compile("|".join(parts))

    def find(self, path: str) -> tuple[ServedOperation, dict[str, str]] | None:
        """Return the first matching operation and its path parameters."""
        match = self._pattern.fullmatch(path)
        if match is None or match.lastindex is None:
            return None
        operation, names = self._operations[match.lastindex]
        values = match.groups()[match.lastindex : match.lastindex + len(names)]
        return operation, dict(zip(names, values, strict=True))


class OperationRouter:
    """ASGI middleware that routes operations to `OperationEndpoint`, and everything else to FastAPI."""

    def __init__(self, app: ASGIApp, endpoint: OperationEndpoint, routes: Iterable[OperationRoute]) -> None:
        self._fallback = app
        self._endpoint = endpoint
        by_method: dict[str, list[OperationRoute]] = {}
        for route in routes:
            by_method.setdefault(route.method, []).append(route)
        self._routes = {method: _MethodRoutes(method_routes) for method, method_routes in by_method.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self.find(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await self._fallback(scope, receive, send)
            return
        operation, scope["path_params"] = found
        answer = await self._endpoint.handle(operation, Request(scope, receive))
        await answer(scope, receive, send)

    def find(self, method: str, path: str) -> tuple[ServedOperation, dict[str, str]] | None:
        """Return the requested operation, and the path parameters as they were sent."""
        routes = self._routes.get(method)
        return routes.find(path) if routes else None


_DEFAULT_RATE_LIMITS = RateLimits()


class App:
    """ASGI app over a database. The caller who opened the database closes it.

    `record_request` receives a record of each request; `metrics` counts them and is served at `/metrics`. With
    `lenient`, unknown query parameters are ignored. Answers under keys are stored for `keys_days`.
    """

    is_shutting_down = False
    """True if this process is about to end."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = time,
        rate_limits: RateLimits = _DEFAULT_RATE_LIMITS,
        record_request: RequestRecorder | None = None,
        metrics: Metrics | None = None,
        time_zones: TimeZones = HOST_TIME_ZONE,
        lenient: bool = False,
        keys_days: int = KEYS_KEPT_DAYS,
    ) -> None:
        self.endpoint = OperationEndpoint(
            database, clock, rate_limits, time_zones, lenient=lenient, keys_days=keys_days
        )
        self._routes = _build_routes()
        self._metrics = metrics
        self.middleware = RequestMiddleware(
            OperationRouter(self._call_fastapi, self.endpoint, self._routes), record_request, clock, metrics, keys_days
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or another ASGI event."""
        await self.middleware(scope, receive, _send_with_close(send) if self.is_shutting_down else send)

    @cached_property
    def fastapi_app(self) -> FastAPI:
        """FastAPI's app, which knows all paths. A server creates it before it accepts requests."""
        from aisle.service.http.fastapi_app import create_fastapi_app

        return create_fastapi_app(self.endpoint, self._routes, self._metrics, lambda: self.is_shutting_down)

    def load_fastapi(self) -> None:
        """Create FastAPI's app now, before a server accepts requests."""
        _ = self.fastapi_app

    def leave(self) -> None:
        """Announce the end of this process: `ready` answers 503, and every answer closes its connection."""
        self.is_shutting_down = True

    async def _call_fastapi(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.fastapi_app(scope, receive, send)


def _send_with_close(send: Send) -> Send:
    """Return a `send` that closes the connection after the answer."""

    async def send_and_close(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return send_and_close


def _build_routes() -> list[OperationRoute]:
    routes: list[OperationRoute] = []
    for name, handler in HANDLERS.items():
        row = OPERATIONS[name]
        adapter = request_body_adapter(row) if row.body else None
        params = (*row.params, SCROLL_PARAM) if row.paging == "envelope" else row.params
        operation = ServedOperation(name, params, adapter, row.write, handler)
        routes.append(OperationRoute(operation, row.method, row.path))
    for extension in EXTENSIONS:
        writes = extension.method != "GET"
        operation = ServedOperation(extension.name, extension.params, extension.body_adapter, writes, extension.handler)
        routes.append(OperationRoute(operation, extension.method, extension.path))
    return routes
