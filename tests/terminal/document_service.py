"""A service that implements the interface alone, as a process: no extensions, no locations, no optional fields.

`python -m tests.terminal.document_service PORT SURROUNDING ORDERS` serves so many orders and their products.
SURROUNDING is `yes` where it tells what the stores around have, `no` where it answers that question with 404.
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

ORDERS = {"D-1": 2, "D-2": 1, "D-3": 3}
"""Its orders and how many lines each has: three of P1, of P1 and P2, …"""

ORDER = next(iter(ORDERS))
"""The only one, where no more are asked for."""


DELIVERY = "IN-1"
"""What is to be received there: four of P1, two of P2."""


def document_service(surrounding: bool = False, orders: int = 1) -> Served:
    """Such a service at an address of its own."""
    return Served(
        *python("-m", "tests.terminal.document_service", "{port}", "yes" if surrounding else "no", str(orders))
    )


def store(surrounding: bool, orders: int) -> Fake:
    """The first of the orders; what is not required is not there."""
    fake = Fake(features="")
    fake.add_products(["P1", "P2", "P3"])
    for row in fake.stock.values():
        del row["store_locations"]
    for order, lines in list(ORDERS.items())[:orders]:
        fake.add_order(order, lines)
        del fake.orders[order]["customer_name"]
    fake.add_delivery(DELIVERY, ("P1", 4), ("P2", 2))
    if surrounding:
        fake.surrounding["P1"] = [{"is_warehouse": True, "most_likely_quantity": 7, "store_number": "0900"}]
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


def main(port: str, surrounding: str, orders: str) -> None:
    """Serves until the lifeline or a signal ends it."""
    app = _Asgi(store(surrounding == "yes", int(orders)))
    server = Server(uvicorn.Config(app, port=int(port), lifespan="off", log_level="warning", access_log=False))
    watch_parent_pipe(os.environ, lambda: setattr(server, "should_exit", True))
    asyncio.run(server.serve())


if __name__ == "__main__":
    main(*sys.argv[1:])
