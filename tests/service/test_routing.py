"""Routes: each path leads to its operation, path parameters stay encoded, and unknown paths are answered."""

from __future__ import annotations

import re

import pytest
from starlette.routing import Match, Router
from starlette.types import Message

from aisle.service.handlers.registry import ServedOperation, served_operations
from aisle.service.http.app import operation_routes
from aisle.service.http.endpoint import OperationEndpoint
from tests.service.test_limits import client_of
from tests.service.world import API, World


async def test_every_operation_is_called_with_its_parameters(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[str, dict[str, str]]] = []

    async def handle(self: OperationEndpoint, operation: ServedOperation, request: object) -> None:
        called.append((operation.name, request.path_params))  # type: ignore[attr-defined]
        raise LookupError

    monkeypatch.setattr(OperationEndpoint, "handle", handle)
    router = Router(operation_routes(world.service.app.endpoint))
    for route in (served.operation for served in served_operations()):
        path = re.sub(r"\{\w+\}", "A%2F12", route.path)
        scope = {"type": "http", "method": route.method, "path": path, "headers": [], "query_string": b""}
        with pytest.raises(LookupError):
            await router(scope, _receive, _send)
        assert called[-1] == (route.name, dict.fromkeys(re.findall(r"\{(\w+)\}", route.path), "A%2F12"))


def test_no_path_hides_another(world: World) -> None:
    router = world.service.app.middleware.app
    assert isinstance(router, Router)
    for route in (served.operation for served in served_operations()):
        scope = {"type": "http", "method": "GET", "path": re.sub(r"\{\w+\}", "x", route.path)}
        assert sum(each.matches(scope)[0] != Match.NONE for each in router.routes) == 1, route.path


@pytest.mark.parametrize("path", ["/storesx", "/stores/0001/nothing", "/Stores"])
async def test_an_unknown_path_is_answered_with_404(world: World, path: str) -> None:
    async with client_of(world) as client:
        answer = await client.get(API + path)
    assert answer.status_code == 404
    assert answer.json()["success"] is False


@pytest.mark.parametrize("path", ["/aisle/v1/health", "/docs", "/openapi.json"])
async def test_a_page_takes_get_only_and_no_parameters(world: World, path: str) -> None:
    async with client_of(world) as client:
        assert (await client.get(path)).status_code == 200
        assert (await client.get(path, params={"x": "1"})).status_code == 400
        for method in ("POST", "HEAD"):
            answer = await client.request(method, path)
            assert (answer.status_code, answer.headers["Allow"]) == (405, "GET")


async def _receive() -> Message:
    return {"type": "http.request"}


async def _send(message: Message) -> None:
    raise AssertionError(message)
