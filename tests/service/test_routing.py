"""The straight way to an operation leads where the app's own routes would."""

from __future__ import annotations

import re
from time import time
from typing import TypeGuard

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Message, Receive, Scope, Send

from aisle.service.handlers.registry import HANDLERS, Handler, ServedOperation
from aisle.service.http.app import App, OperationRouter
from aisle.service.http.endpoint import OperationEndpoint, OperationRoute
from aisle.service.limits import RateLimits
from tests.service.test_limits import client_of
from tests.service.world import API, World


def test_every_operation_is_found_where_the_routes_find_it(world: World) -> None:
    app = App(world.service.database)
    dispatch = app.middleware.app
    assert isinstance(dispatch, OperationRouter)
    routes = [each for each in app.fastapi_app.routes if isinstance(each, APIRoute) and each.name in HANDLERS]
    assert len(routes) == len(HANDLERS)
    for route in routes:
        path, [method] = re.sub(r"\{\w+\}", "A%2F12", route.path), list(route.methods or ())
        scope = {"type": "http", "method": method, "path": path, "root_path": ""}
        found = dispatch.find(method, path)
        assert found is not None, path
        operation, values = found
        assert operation.name == next(each.name for each in app.fastapi_app.routes if _fits(each, scope))
        assert values == dict.fromkeys(re.findall(r"\{(\w+)\}", route.path), "A%2F12")


async def test_an_operation_passes_nothing_of_the_framework(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[str] = []
    framework = FastAPI.__call__

    async def noted(self: FastAPI, scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope["path"])
        await framework(self, scope, receive, send)

    monkeypatch.setattr(FastAPI, "__call__", noted)
    async with client_of(world) as client:
        assert (await client.get(f"{API}/stores")).status_code == 200
        assert (await client.get("/nowhere")).status_code == 404
    assert passed == ["/nowhere"]


def _fits(route: BaseRoute, scope: Scope) -> TypeGuard[Route]:
    return isinstance(route, Route) and route.matches(scope)[0] == Match.FULL


async def test_unknown_paths_fall_through_to_the_app(world: World) -> None:
    went: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        went.append(scope.get("path", scope["type"]))

    async def run(*_: object) -> bytes:
        return b""

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        went.append(message["type"])

    operation = ServedOperation("it", (), None, False, Handler(run))
    dispatch = OperationRouter(
        app,
        OperationEndpoint(world.service.database, time, RateLimits()),
        [OperationRoute(operation, "GET", "/a.b/{x}/c")],
    )
    others = [("GET", path) for path in ("/a.b/1", "/a.b/1/c/", "/axb/1/c", "/a.b//c")] + [("PUT", "/a.b/1/c")]
    for method, path in others:
        await dispatch({"type": "http", "method": method, "path": path}, receive, send)
    await dispatch({"type": "lifespan"}, receive, send)
    assert went == [*(path for _, path in others), "lifespan"]
    assert dispatch.find("GET", "/a.b/1/c") == (operation, {"x": "1"})
