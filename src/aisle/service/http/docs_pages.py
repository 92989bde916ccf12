"""Pages of the documentation: the OpenAPI document with Swagger UI."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from aisle.service.errors import JSON_TYPE, to_json_bytes
from aisle.service.http.openapi.document import build_document
from aisle.service.http.routes import page_route

DOCS_PATH = "/docs"

SCHEMA_PATH = "/openapi.json"

ASSETS = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css", "favicon.png": "image/png"}
"""Media types of the page's files."""

_FOLDER = Path(__file__).parent / "swagger_ui"

_CONTENT_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self' 'unsafe-inline';"
    " style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content policy: the browser loads nothing from other servers."""

_HEADERS = {
    "Content-Security-Policy": _CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def docs_routes(*, lenient: bool) -> list[BaseRoute]:
    """Return the routes of the document, the page and its files. They need no token."""
    building = asyncio.Lock()

    async def schema(request: Request) -> Response:
        async with building:
            document = await asyncio.to_thread(_document)
        return Response(document, media_type=JSON_TYPE)

    return [
        page_route(SCHEMA_PATH, schema, lenient=lenient),
        page_route(DOCS_PATH, _page, lenient=lenient),
        page_route(f"{DOCS_PATH}/{{name}}", _asset, lenient=lenient),
    ]


async def _page(request: Request) -> Response:
    return Response(_read("index.html"), media_type="text/html", headers=_HEADERS)


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        return Response(status_code=404, headers=_HEADERS)
    return Response(_read(name), media_type=ASSETS[name], headers=_HEADERS | {"Cache-Control": "max-age=3600"})


@cache
def _read(name: str) -> bytes:
    """Return a file of the page, read once."""
    return (_FOLDER / name).read_bytes()


@cache
def _document() -> bytes:
    """Return the document as JSON, built once in a thread, since that takes as long as hundreds of requests."""
    return to_json_bytes(build_document())
