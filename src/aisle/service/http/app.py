"""ASGI app of the service: middleware around the routes of operations, documentation and health."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Router
from starlette.types import Message, Receive, Scope, Send

from aisle.service.db.database import Database
from aisle.service.http.docs_pages import docs_routes
from aisle.service.http.endpoint import OperationEndpoint
from aisle.service.http.header_and_path_middleware import RequestMiddleware
from aisle.service.http.health import health_routes, metrics_route
from aisle.service.http.routes import operation_routes, respond_not_found
from aisle.service.options import ServiceOptions

if TYPE_CHECKING:
    from aisle.service.http.metrics import Metrics


class App:
    """ASGI app over a database. The caller who opened the database closes it."""

    is_shutting_down = False
    """True if this process is about to end."""

    def __init__(self, database: Database, options: ServiceOptions) -> None:
        self.endpoint = OperationEndpoint(database, options)
        router = Router(self._build_routes(options.metrics), redirect_slashes=False, default=respond_not_found)
        self.middleware = RequestMiddleware(router, options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or another ASGI event."""
        await self.middleware(scope, receive, _send_with_close(send) if self.is_shutting_down else send)

    def leave(self) -> None:
        """Announce the end of this process: `ready` answers 503, and every answer closes its connection."""
        self.is_shutting_down = True

    def _build_routes(self, metrics: Metrics | None) -> list[BaseRoute]:
        """Return all routes; those of operations come first."""
        return [
            *operation_routes(self.endpoint),
            *docs_routes(lenient=self.endpoint.lenient),
            *health_routes(self.endpoint, lambda: self.is_shutting_down),
            *([metrics_route(self.endpoint, metrics)] if metrics else []),
        ]


def _send_with_close(send: Send) -> Send:
    """Return a `send` that closes the connection after the answer."""

    async def send_and_close(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return send_and_close
