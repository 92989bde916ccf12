"""FastAPI app: routes from the table of operations, the OpenAPI page, health and metrics.

Only this module imports FastAPI. A server loads it before it accepts requests.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from aisle.errors import StorageError
from aisle.service.context import CHAIN, Context, OperationCall
from aisle.service.db import Database, DatabaseFailed, Transaction
from aisle.service.db.statements import access
from aisle.service.db.table_sizes import TableSizes
from aisle.service.errors import JSON_TYPE, Refusal, to_json_bytes
from aisle.service.handlers.registry import Handler, OperationResult, ServedOperation
from aisle.service.http.endpoint import OperationEndpoint, OperationRoute, refusal_response, result_response
from aisle.service.http.openapi.document import HEALTH_PATH, READY_PATH, build_document
from aisle.service.http.request import query_values

log = logging.getLogger("aisle.service")

if TYPE_CHECKING:
    from aisle.service.http.metrics import Metrics


def create_fastapi_app(
    endpoint: OperationEndpoint,
    routes: Iterable[OperationRoute],
    metrics: Metrics | None,
    is_shutting_down: Callable[[], bool],
) -> FastAPI:
    """Create the app for everything except operations. It knows their routes to answer wrong methods.

    `is_shutting_down` returns True if this process is about to end.
    """
    app = FastAPI(
        title="Store Operations Service",
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[] if endpoint.lenient else [Depends(_check_no_parameters)],
    )
    for route in routes:
        _add_route(app, endpoint, route)
    add_docs(app)
    add_health_pages(app, endpoint, metrics, is_shutting_down)
    app.add_exception_handler(HTTPException, _handle_no_route)
    app.add_exception_handler(Refusal, _handle_refusal)
    app.add_exception_handler(StorageError, _handle_storage_error)
    return app


def _add_route(app: FastAPI, endpoint: OperationEndpoint, route: OperationRoute) -> None:
    app.add_api_route(
        route.path,
        _route_handler(endpoint, route.operation),
        methods=[route.method],
        name=route.operation.name,
        response_model=None,
        response_class=Response,
    )


def _route_handler(
    operation_endpoint: OperationEndpoint, operation: ServedOperation
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await operation_endpoint.handle(operation, request)

    return endpoint


def _check_no_parameters(request: Request) -> None:
    """Raise Refusal (400) for query parameters. Pages of the service have none; operations do not come here."""
    if request.scope["query_string"]:
        query_values(request.scope["query_string"], ())


async def _handle_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refusal_response(error)


async def _handle_no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = {404: "There is no such operation here.", 405: "This path is used with another method."}
    status = error.status_code
    answer = result_response(OperationResult(status, Refusal(status, message.get(status, str(error.detail))).body()))
    answer.headers.update(error.headers or {})
    if status == 405:
        answer.headers["Allow"] = ", ".join(_allowed_methods(request))
    return answer


def _allowed_methods(request: Request) -> list[str]:
    """Return the methods of this path; each has its own route."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    matching = [route for route in routes if route.matches(request.scope)[0] != Match.NONE]
    return sorted({method for route in matching for method in route.methods or ()})


async def _handle_storage_error(request: Request, error: Exception) -> Response:
    return result_response(OperationResult(503, Refusal(503, str(error)).body()))


DOCS_PATH = "/docs"
SCHEMA_PATH = "/openapi.json"
_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
_CONTENT_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self' 'unsafe-inline';"
    " style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content policy: the browser loads nothing from other servers."""
_DOCS_HEADERS = {
    "Content-Security-Policy": _CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def add_docs(app: FastAPI) -> None:
    """Add the documentation page and its files. They need no token, since they have no data of any store."""
    page = get_swagger_ui_html(
        openapi_url=SCHEMA_PATH,
        title=app.title,
        swagger_js_url=f"{DOCS_PATH}/swagger-ui-bundle.js",
        swagger_css_url=f"{DOCS_PATH}/swagger-ui.css",
        swagger_favicon_url=f"{DOCS_PATH}/favicon.png",
        # Swagger UI would send the schema to an external validator.
        swagger_ui_parameters={"validatorUrl": None, "docExpansion": "none", "persistAuthorization": False},
    ).body

    async def docs() -> Response:
        return Response(page, media_type="text/html", headers=_DOCS_HEADERS)

    async def asset(name: str) -> Response:
        if name not in _ASSETS:
            return Response(status_code=404, headers=_DOCS_HEADERS)
        return Response(
            _asset(name), media_type=_ASSETS[name], headers=_DOCS_HEADERS | {"Cache-Control": "max-age=3600"}
        )

    building = asyncio.Lock()

    async def schema() -> Response:
        async with building:  # Outside the event loop, since other requests would wait until it is built.
            document = await asyncio.to_thread(_document)
        return Response(document, media_type=JSON_TYPE)

    app.add_api_route(SCHEMA_PATH, schema, include_in_schema=False)
    app.add_api_route(DOCS_PATH, docs, include_in_schema=False)
    app.add_api_route(f"{DOCS_PATH}/{{name}}", asset, include_in_schema=False)


@cache
def _asset(name: str) -> bytes:
    """Return a file of the page, read once."""
    return files("fastapi_offline").joinpath("static", name).read_bytes()


@cache
def _document() -> bytes:
    """Return the document as JSON, built once, since that takes as long as hundreds of requests."""
    return to_json_bytes(build_document())


METRICS_PATH = "/metrics"
_PROBE_COUNTER = "probe"
WRITE_PROBE_S, FAILED_WRITE_PROBE_S = 30.0, 2.0
"""Seconds between two writes of the probe, while they succeed and after one failed."""
WRITE_TIMEOUT_S = 0.3
READY_TIMEOUT_S = 1.5
"""Seconds that the database may take to answer before the process counts as not ready."""


def add_health_pages(
    app: FastAPI, endpoint: OperationEndpoint, metrics: Metrics | None, is_shutting_down: Callable[[], bool]
) -> None:
    """Add the routes of health, readiness and, if they are kept, metrics."""
    probe = _DatabaseProbe(endpoint.database)

    async def health() -> Response:
        """Confirm that this process runs, without asking the database. Needs no token."""
        return _success_response()

    async def ready() -> Response:
        """Confirm that this process accepts requests. Needs no token."""
        if is_shutting_down():
            return result_response(OperationResult(503, Refusal(503, "This process is leaving.").body()))
        if not await probe.is_answering():
            return result_response(OperationResult(503, Refusal(503, "The database does not answer.").body()))
        if not await probe.can_be_written():
            return result_response(OperationResult(503, Refusal(503, "The database cannot be written to.").body()))
        return _success_response()

    app.add_api_route(HEALTH_PATH, health, methods=["GET"], response_class=Response)
    app.add_api_route(READY_PATH, ready, methods=["GET"], response_class=Response)
    if metrics is not None:
        _add_metrics_page(app, endpoint, metrics)


def _add_metrics_page(app: FastAPI, endpoint: OperationEndpoint, metrics: Metrics) -> None:
    from aisle.service.http.metrics import CONTENT_TYPE, is_local

    async def nothing(ctx: Context, call: OperationCall) -> bytes:
        return b""

    operation = ServedOperation(
        "metrics", (), None, False, Handler(nothing, frozenset({"admin", "metrics"}), needs_all_stores=True)
    )

    sizes = TableSizes(endpoint.database)

    async def figures(request: Request) -> Response:
        if not is_local(request):
            answer = await endpoint.handle(operation, request)
            if answer.status_code != 200:
                return answer
        await sizes.refresh()
        return Response(metrics.render(sizes.by_table), media_type=CONTENT_TYPE)

    app.add_api_route(METRICS_PATH, figures, methods=["GET"], include_in_schema=False)


class _DatabaseProbe:
    """Probe of the database, shared by all callers at the same time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: asyncio.Task[bool] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._wrote_at = -math.inf
        self._can_write = True

    async def can_be_written(self) -> bool:
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


def _success_response() -> Response:
    return Response(b'{"success":true}', media_type=JSON_TYPE)


async def _write_database(tx: Transaction) -> None:
    await tx.one(access.COUNTER_NEXT, CHAIN, _PROBE_COUNTER, 1)


async def _query_database(tx: Transaction) -> None:
    await tx.one(access.HAS_DATA)
