"""The page at `/docs`: Swagger UI, every part of it served from here (its files come with fastapi-offline)."""

from __future__ import annotations

from importlib.resources import files

from fastapi import FastAPI, Response
from fastapi.openapi.docs import get_swagger_ui_html

from aisle.service.answers import JSON, dumps
from aisle.service.openapi import document

PAGE = "/docs"
SCHEMA = "/openapi.json"
ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src 'self' 'unsafe-inline';"
    " style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A browser fetches from nowhere else, whatever the scripts would like."""
_HEADERS = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


def add_docs(app: FastAPI) -> None:
    """Add the page and its files to the app. Neither needs a token: they tell nothing of any store."""
    page = get_swagger_ui_html(
        openapi_url=SCHEMA,
        title=app.title,
        swagger_js_url=f"{PAGE}/swagger-ui-bundle.js",
        swagger_css_url=f"{PAGE}/swagger-ui.css",
        swagger_favicon_url=f"{PAGE}/favicon.png",
        # Swagger UI would show the schema to a validator elsewhere.
        swagger_ui_parameters={"validatorUrl": None, "docExpansion": "none", "persistAuthorization": False},
    ).body

    async def docs() -> Response:
        return Response(page, media_type="text/html", headers=_HEADERS)

    async def asset(name: str) -> Response:
        if name not in ASSETS:
            return Response(status_code=404, headers=_HEADERS)
        content = files("fastapi_offline").joinpath("static", name).read_bytes()
        return Response(content, media_type=ASSETS[name], headers=_HEADERS | {"Cache-Control": "max-age=3600"})

    async def schema() -> Response:
        return Response(dumps(document()), media_type=JSON)

    app.add_api_route(SCHEMA, schema, include_in_schema=False)
    app.add_api_route(PAGE, docs, include_in_schema=False)
    app.add_api_route(f"{PAGE}/{{name}}", asset, include_in_schema=False)
