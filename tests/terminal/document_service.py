"""A service that implements the interface alone, as a process: no extensions, no locations, no optional fields.

`python -m tests.terminal.document_service PORT` serves an order and its products. Asked what the stores around have, it
answers 404.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import httpx
import uvicorn

from aisle.parent_pipe import watch_parent_pipe
from tests.courier.fake_service import Fake
from tests.terminal.harness import python
from tests.terminal.service_process import Served, Server

ORDER = "D-1"
"""Its order: three of P1, three of P2."""


def document_service() -> Served:
    """Such a service at an address of its own."""
    return Served(*python("-m", "tests.terminal.document_service", "{port}"))


def store() -> Fake:
    """What is not required is not there."""
    fake = Fake(features="")
    fake.add_products(["P1", "P2", "P3"])
    for row in fake.stock.values():
        del row["store_locations"]
    fake.add_order(ORDER, 2)
    del fake.orders[ORDER]["customer_name"]
    return fake


class _Asgi:
    """The fake as an ASGI app."""

    def __init__(self, fake: Fake) -> None:
        self._fake = fake

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        url = f"http://127.0.0.1{scope['raw_path'].decode()}?{scope['query_string'].decode()}"
        request = httpx.Request(scope["method"], url, headers=scope["headers"], content=body)
        answer = self._fake.answer(request)
        await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.headers.raw})
        await send({"type": "http.response.body", "body": answer.content})


def main(port: str) -> None:
    """Serves until the lifeline or a signal ends it."""
    app = _Asgi(store())
    server = Server(uvicorn.Config(app, port=int(port), lifespan="off", log_level="warning", access_log=False))
    watch_parent_pipe(os.environ, lambda: setattr(server, "should_exit", True))
    asyncio.run(server.serve())


if __name__ == "__main__":
    main(*sys.argv[1:])
