"""The straight way from the door to an operation.

FastAPI's own routes (`framework.py`) know the operations too: they say what is used with another method. But its layers
have nothing to do for an operation, whose gate reads the request and answers whatever happens, and they would take
longer than all that the gate does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from aisle.service.asked import Operation
from aisle.service.gate import Gate
from aisle.tuples import NamedTuple

_PARAMETER = re.compile(r"\{(\w+)\}")


class Way(NamedTuple):
    """An operation, and the method and path under which it is found (`/stores/{store_number}`)."""

    operation: Operation
    method: str
    path: str


class _Ways:
    """The ways of one method, asked all at once; of two that fit the first one is taken, as routes are."""

    def __init__(self, ways: Iterable[Way]) -> None:
        parts: list[str] = []
        self._found: dict[int, tuple[Operation, tuple[str, ...]]] = {}
        group = 1
        for way in ways:
            names = tuple(_PARAMETER.findall(way.path))
            self._found[group] = (way.operation, names)
            literals = [re.escape(text) for text in _PARAMETER.split(way.path)[::2]]
            parts.append("(" + "([^/]+)".join(literals) + ")")
            group += 1 + len(names)
        self._pattern = re.compile("|".join(parts))

    def find(self, path: str) -> tuple[Operation, dict[str, str]] | None:
        """The first whose path this is, and its parameters."""
        match = self._pattern.fullmatch(path)
        if match is None or match.lastindex is None:
            return None
        operation, names = self._found[match.lastindex]
        values = match.groups()[match.lastindex : match.lastindex + len(names)]
        return operation, dict(zip(names, values, strict=True))


class Dispatch:
    """ASGI middleware, next to the door: operations go to the gate, all else to the app."""

    def __init__(self, app: ASGIApp, gate: Gate, ways: Iterable[Way]) -> None:
        self._app = app
        self._gate = gate
        of_methods: dict[str, list[Way]] = {}
        for way in ways:
            of_methods.setdefault(way.method, []).append(way)
        self._ways = {method: _Ways(its) for method, its in of_methods.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self.find(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        operation, scope["path_params"] = found
        answer = await self._gate.answer(operation, Request(scope, receive))
        await answer(scope, receive, send)

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """The operation that is asked for, and the path's parameters as they were sent."""
        ways = self._ways.get(method)
        return ways.find(path) if ways else None
