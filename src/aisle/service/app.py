"""The service as an ASGI app: the door, behind it the contract's table with the table of handlers.

What is no operation (the pages about the service, and paths that lead nowhere) FastAPI answers, which is loaded when
something like that is asked for first: most services are embedded in a courier, which never asks, and to load it takes
longer than all else that a courier has to load.
"""

from __future__ import annotations

from functools import cached_property
from time import time
from typing import TYPE_CHECKING

from starlette.types import Message, Receive, Scope, Send

from aisle.contract.wire import OPERATIONS
from aisle.service.access import Access
from aisle.service.asked import Operation
from aisle.service.bodies import read_body
from aisle.service.dispatch import Dispatch, Way
from aisle.service.door import Door
from aisle.service.extensions import EXTENSIONS
from aisle.service.gate import Gate
from aisle.service.handlers import HANDLERS
from aisle.service.limits import KEYS_KEPT_DAYS, Rates
from aisle.service.pages import SCROLL
from aisle.service.storage import Storage
from aisle.service.times import Clock
from aisle.service.zones import HOST, Zones

if TYPE_CHECKING:
    from fastapi import FastAPI

    from aisle.service.metrics import Metrics

_RATES = Rates()


class App:
    """The app over a storage. It owns nothing: whoever opened the storage closes it.

    `access` hears of each request, `metrics` counts them and is told at `/metrics`. A `lenient` one ignores parameters
    that an operation does not have. Answers under keys are kept for `keys_days`.
    """

    leaving = False
    """This process is about to end."""

    def __init__(
        self,
        storage: Storage,
        *,
        clock: Clock = time,
        rates: Rates = _RATES,
        access: Access | None = None,
        metrics: Metrics | None = None,
        zones: Zones = HOST,
        lenient: bool = False,
        keys_days: int = KEYS_KEPT_DAYS,
    ) -> None:
        self.gate = Gate(storage, clock, rates, zones, lenient=lenient, keys_days=keys_days)
        self._ways = _ways()
        self._metrics = metrics
        self.door = Door(Dispatch(self._go_on, self.gate, self._ways), access, clock, metrics, keys_days)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or what else a server has to say."""
        await self.door(scope, receive, _closing(send) if self.leaving else send)

    @cached_property
    def framework(self) -> FastAPI:
        """FastAPI's app, which knows all paths; a server has it before anybody can call."""
        from aisle.service.framework import framework

        return framework(self.gate, self._ways, self._metrics, lambda: self.leaving)

    def load(self) -> None:
        """Makes it now, for a server that is about to hear callers."""
        _ = self.framework

    def leave(self) -> None:
        """This process is about to end: it says so to who asks whether it is ready, and keeps no connection."""
        self.leaving = True

    async def _go_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.framework(scope, receive, send)


def _closing(send: Send) -> Send:
    """An answer after which nobody uses this connection again."""

    async def send_and_close(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return send_and_close


def _ways() -> list[Way]:
    ways: list[Way] = []
    for name, handler in HANDLERS.items():
        row = OPERATIONS[name]
        adapter = read_body(row) if row.body else None
        params = (*row.params, SCROLL) if row.paging == "envelope" else row.params
        operation = Operation(name, params, adapter, row.write, handler)
        ways.append(Way(operation, row.method, row.path))
    for extension in EXTENSIONS:
        writes = extension.method != "GET"
        operation = Operation(extension.name, extension.params, extension.adapter, writes, extension.handler)
        ways.append(Way(operation, extension.method, extension.path))
    return ways
