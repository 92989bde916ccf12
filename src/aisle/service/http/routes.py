"""Routes of the service: one for each path, with a handler for each method. Starlette's router matches the paths."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from aisle.contract.operations import OPERATIONS
from aisle.contract.request_bodies.extension_bodies import request_body_adapter
from aisle.errors import StorageError
from aisle.service.errors import Refusal
from aisle.service.handlers.extension_table import EXTENSIONS
from aisle.service.handlers.list_page import SCROLL_PARAM
from aisle.service.handlers.registry import HANDLERS, OperationResult, ServedOperation
from aisle.service.http.endpoint import OperationEndpoint, refusal_response, result_response
from aisle.service.http.request_parsing import query_values

RequestHandler = Callable[[Request], Awaitable[Response]]


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
        return result_response(OperationResult(503, Refusal(503, str(error)).body()))


def page_route(path: str, handler: RequestHandler, *, lenient: bool) -> Route:
    """Return the route of a page for GET. It has no query parameters; they are refused unless `lenient`."""

    async def check_query(request: Request) -> Response:
        if not lenient:
            query_values(request.scope["query_string"], ())
        return await handler(request)

    return Route(path, PathEndpoint({"GET": check_query}))


async def respond_not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 404 to a request for a path without a route."""
    response = refusal_response(Refusal(404, "There is no such operation here."))
    await response(scope, receive, send)


def operation_routes(endpoint: OperationEndpoint) -> list[BaseRoute]:
    """Return the routes of all operations, one for each path."""
    by_path: dict[str, dict[str, RequestHandler]] = {}
    for operation in list_operations():
        by_path.setdefault(operation.path, {})[operation.method] = partial(endpoint.handle, operation)
    return [Route(path, PathEndpoint(handlers)) for path, handlers in by_path.items()]


def list_operations() -> Iterable[ServedOperation]:
    """Yield the operations of the contract, then the extensions."""
    for name, handler in HANDLERS.items():
        row = OPERATIONS[name]
        adapter = partial(request_body_adapter, row) if row.body else None
        params = (*row.params, SCROLL_PARAM) if row.paging == "envelope" else row.params
        yield ServedOperation(name, row.method, row.path, handler, params, adapter)
    yield from EXTENSIONS
