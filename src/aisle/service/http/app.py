"""ASGI app of the service: middleware around the routes of operations, documentation, health and metrics.

Each path has one route, with a handler for each method. Starlette's router matches the paths.

`A%2F12` is one segment of a path. The router gets the path encoded, and each parameter is decoded once.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aisle.errors import StorageError
from aisle.service.app_options_and_limits import (
    KEYS_KEPT_DAYS,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    MAX_QUERY_BYTES,
    ServiceOptions,
)
from aisle.service.db.database_interface import Database
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.errors import JSON_TYPE, PROBLEM_TYPE, Refusal, bad_request, to_json_bytes
from aisle.service.handlers.registry import served_operations
from aisle.service.http.access_and_service_logs import REQUEST_RECORD, RequestNotes, RequestRecord
from aisle.service.http.endpoint import OperationEndpoint, refusal_response
from aisle.service.http.health_and_metrics import METRICS_PATH, RequestHandler, answer_health, metrics_page, ready_page
from aisle.service.http.openapi.document import HEALTH_PATH, READY_PATH, build_document
from aisle.service.http.parameters_and_headers import is_valid_code, query_values

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


_FEATURES = (
    "occurred-at, clock-ahead, app-user, pick-place, pick-base, line-reasons, if-match, log-read,"
    " claims, changes, locations, people, sign-in, receipt-line, taken-time, undone-time, assignments, reviews,"
    " recounts, line-rejection, named-orders, log-entry, delivery-marks, aside, known-keys, tokens, audit,"
    " expiry-dates"
)


def features(keys_days: int, *, has_demo_store: bool = False) -> str:
    """Return the value of `Aisle-Features`: the extensions, and the days that answers are stored under keys."""
    return f"idempotency={keys_days}d, {_FEATURES}" + ", demo-store" * has_demo_store


FEATURES = features(KEYS_KEPT_DAYS)

# Longest segment that is cached; most requests use the same few.
_CACHED_LENGTH = 64
REQUEST_ID_HEADER = b"x-request-id"
"""Header with the id of a request in all logs. The client may set it, and the answer has it."""
_REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Headers with one meaning. If two differ, the request is ambiguous.
_SINGLE_VALUE_HEADERS = frozenset(
    {
        b"aisle-app-user",
        b"aisle-clock-ahead",
        b"aisle-follows",
        b"aisle-log-read",
        b"aisle-occurred-at",
        b"aisle-replay",
        b"aisle-terminal",
        b"appusername",
        b"authorization",
        b"container_override",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"if-match",
        b"transfer-encoding",
    }
)


class RequestMiddleware:
    """ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp, options: ServiceOptions) -> None:
        self.app = app
        self._announced = (
            b"aisle-features",
            features(options.keys_days, has_demo_store=options.has_demo_store).encode(),
        )
        self._record_request = options.record_request
        self._metrics = options.metrics
        self._clock = options.clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        client = scope.get("client")
        request_id = _request_id(scope)
        notes: RequestNotes = {"client": client[0] if client else "", "request": request_id}
        named = (REQUEST_ID_HEADER, request_id.encode())
        began, status, size = monotonic(), 0, 0

        async def announce(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], self._announced, named]
            else:
                size += len(message.get("body", b""))
            await send(message)

        if self._metrics:
            self._metrics.start_request()
        try:
            await self._check_and_forward({**scope, REQUEST_RECORD: notes}, receive, announce)
        finally:
            took = round((monotonic() - began) * 1000, 1)
            at, method = format_timestamp(self._clock()), scope["method"]
            record: RequestRecord = {"at": at, "method": method, "status": status, "ms": took, "bytes": size, **notes}
            if self._metrics:
                self._metrics.finish_request(record)
            if self._record_request:
                self._record_request(record)

    async def _check_and_forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the request and call the app. `scope` is a copy that may be changed."""
        try:
            _check_headers(scope)
            path = normalize_path(scope)
        except Refusal as refusal:
            # Its connection is closed, since parsers may disagree on what follows (RFC 9112, 6.1).
            headers = {"Connection": "close"}
            await Response(refusal.body(), refusal.status, headers, PROBLEM_TYPE)(scope, receive, send)
            return
        scope["path"] = path
        await self.app(scope, receive, send)


def _request_id(scope: Scope) -> str:
    """Return the request's own id if it is valid, otherwise a new one."""
    sent_id = next((value.decode("latin-1") for name, value in scope["headers"] if name == REQUEST_ID_HEADER), "")
    return sent_id if _REQUEST_ID_PATTERN.fullmatch(sent_id) else secrets.token_hex(8)


def _check_headers(scope: Scope) -> None:
    headers = scope["headers"]
    if len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
        raise Refusal(431, f"At most {MAX_HEADERS} headers of {MAX_HEADER_BYTES >> 10} KiB together are taken.")
    single_values: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in _SINGLE_VALUE_HEADERS and single_values.setdefault(name, value) != value:
            raise bad_request("This header is there twice, and says two things.", name.decode())
    _check_framing(single_values, scope["http_version"])
    if len(scope["query_string"]) > MAX_QUERY_BYTES:
        raise Refusal(414, f"A query has at most {MAX_QUERY_BYTES >> 10} KiB.")


def _check_framing(headers: dict[bytes, bytes], version: str) -> None:
    """Raise Refusal (400) for ambiguous framing, so that a proxy and this server see the same requests.

    Each HTTP parser accepts some of it.
    """
    if b"host" not in headers and version == "1.1":
        raise bad_request("A request says which host it is for.", "Host")
    if (coding := headers.get(b"transfer-encoding")) is not None:
        if b"content-length" in headers:
            raise bad_request("A body has a length, or comes in parts.", "Transfer-Encoding")
        if coding.lower() != b"chunked":
            raise bad_request("A body comes in parts, and in no other coding.", "Transfer-Encoding")


def normalize_path(scope: Scope) -> str:
    """Return the path with every segment encoded uniformly. Raise Refusal (400) for invalid segments."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    first, *parts = raw.split(b"/")
    if first or parts == [b""]:
        return "/"
    return "".join("/" + _normalize_segment(part) for part in parts)


def _normalize_segment(raw: bytes) -> str:
    return _encode_short_segment(raw) if len(raw) <= _CACHED_LENGTH else _encode_segment(raw)


def _encode_segment(raw: bytes) -> str:
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise bad_request("The path is not valid UTF-8.") from None
    if not is_valid_code(text) or "\0" in text:
        raise bad_request("The path has a part that names nothing.")
    return quote(text, safe="")


_encode_short_segment = lru_cache(maxsize=2000)(_encode_segment)
