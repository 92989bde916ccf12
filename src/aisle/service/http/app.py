"""ASGI app of the service: middleware around the routes of operations, documentation, health and metrics.

Each path has one route, with a handler for each method. Starlette's router matches the paths.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, Router
from starlette.types import Message, Receive, Scope, Send

from aisle.errors import StorageError
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.db.database_interface import Database
from aisle.service.errors import JSON_TYPE, Refusal, to_json_bytes
from aisle.service.handlers.registry import served_operations
from aisle.service.http.endpoint import OperationEndpoint, refusal_response
from aisle.service.http.header_and_path_middleware import RequestMiddleware
from aisle.service.http.health_and_metrics import (
    METRICS_PATH,
    RequestHandler,
    answer_health,
    metrics_page,
    ready_page,
)
from aisle.service.http.openapi.document import HEALTH_PATH, READY_PATH, build_document
from aisle.service.http.parameter_values import query_values

if TYPE_CHECKING:
    from aisle.service.http.metrics import Metrics


log = logging.getLogger("aisle.service")

DOCS_PATH = "/docs"
SCHEMA_PATH = "/openapi.json"
ASSETS = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css", "favicon.png": "image/png"}
"""Media types of the files of the documentation's page."""
_ASSET_FOLDER = Path(__file__).parent / "swagger_ui"
_DOCS_HEADERS = {
    # The browser loads nothing from other servers.
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self'"
    " 'unsafe-inline'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class App:
    """ASGI app over a database. The caller who opened the database closes it."""

    is_shutting_down = False
    """True while this process drains before its end (`server.http_server.HttpServer.drain`)."""

    def __init__(self, database: Database, options: ServiceOptions) -> None:
        self.endpoint = OperationEndpoint(database, options)
        self._building = asyncio.Lock()
        router = Router(
            self._build_routes(database, options.metrics), redirect_slashes=False, default=_respond_not_found
        )
        self.middleware = RequestMiddleware(router, options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or another ASGI event."""
        await self.middleware(scope, receive, _send_with_close(send) if self.is_shutting_down else send)

    def leave(self) -> None:
        """Announce the end of this process: `ready` answers 503, and every answer closes its connection."""
        self.is_shutting_down = True

    def _build_routes(self, database: Database, metrics: Metrics | None) -> list[BaseRoute]:
        """Return all routes; those of operations come first. Documentation and health need no token."""
        pages: dict[str, RequestHandler] = {
            SCHEMA_PATH: self._schema,
            DOCS_PATH: _docs_page,
            f"{DOCS_PATH}/{{name}}": _docs_asset,
            HEALTH_PATH: answer_health,
            READY_PATH: ready_page(database, lambda: self.is_shutting_down),
        }
        if metrics:
            pages[METRICS_PATH] = metrics_page(self.endpoint, metrics)
        return [*operation_routes(self.endpoint), *(self._page_route(*page) for page in pages.items())]

    def _page_route(self, path: str, handler: RequestHandler) -> Route:
        """Return the route of a page for GET. It has no query parameters; they are refused unless lenient."""

        async def check_query(request: Request) -> Response:
            if not self.endpoint.lenient:
                query_values(request.scope["query_string"], ())
            return await handler(request)

        return Route(path, PathEndpoint({"GET": check_query}))

    async def _schema(self, request: Request) -> Response:
        async with self._building:
            document = await asyncio.to_thread(_document)
        return Response(document, media_type=JSON_TYPE)


class PathEndpoint:
    """ASGI app of one path. It answers 405 with all methods of the path for another method."""

    def __init__(self, handlers: Mapping[str, RequestHandler]) -> None:
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._handlers.get(scope["method"])
        response = await _respond(handler, Request(scope, receive)) if handler else self._wrong_method_response()
        await response(scope, receive, send)

    def _wrong_method_response(self) -> Response:
        response = refusal_response(Refusal(405, "This path is used with another method."))
        response.headers["Allow"] = ", ".join(sorted(self._handlers))
        return response


async def _respond(handler: RequestHandler, request: Request) -> Response:
    try:
        return await handler(request)
    except Refusal as refusal:
        return refusal_response(refusal)
    except StorageError as error:
        return refusal_response(Refusal(503, str(error)))


async def _respond_not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 404 to a request for a path without a route."""
    await refusal_response(Refusal(404, "There is no such operation here."))(scope, receive, send)


def operation_routes(endpoint: OperationEndpoint) -> list[BaseRoute]:
    """Return the routes of all operations, one for each path."""
    by_path: dict[str, dict[str, RequestHandler]] = {}
    for served in served_operations():
        row = served.operation
        by_path.setdefault(row.path, {})[row.method] = partial(endpoint.handle, served)
    return [Route(path, PathEndpoint(handlers)) for path, handlers in by_path.items()]


def _send_with_close(send: Send) -> Send:
    """Return a `send` that closes the connection after the answer."""

    async def send_and_close(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return send_and_close


async def _docs_page(request: Request) -> Response:
    return Response(_read_asset("index.html"), media_type="text/html", headers=_DOCS_HEADERS)


async def _docs_asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        return Response(status_code=404, headers=_DOCS_HEADERS)
    headers = _DOCS_HEADERS | {"Cache-Control": "max-age=3600"}
    return Response(_read_asset(name), media_type=ASSETS[name], headers=headers)


@cache
def _read_asset(name: str) -> bytes:
    """Return a file of the documentation's page, read once."""
    return (_ASSET_FOLDER / name).read_bytes()


@cache
def _document() -> bytes:
    """Return the document as JSON, built once in a thread, since that takes as long as hundreds of requests."""
    return to_json_bytes(build_document())
