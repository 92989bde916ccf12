"""A store in one process: sessions, outbox, courier and service, all real; only clock, chance and transport are ours.

    async with world(folder, seed=7) as shop:        # a service with goods and orders, a host whose courier runs
        anna = shop.host.person("dock-1", "anna")
        anna.pick("O1", "1*" + CODES["P1"])
        shop.host.line.plan = Chaos(shop.random, 0.6)
        await shop.quiet()                           # faults end, time passes, all that waits is delivered
        shop.check()                                 # nothing lost, nothing doubled, Σ conserved (tests.faults.checker)

A host is a home folder with an outbox, a courier and terminals; `shop.add_host()` makes another one. What a person says
goes the way of every scan: decoded line → session → journal and outbox, durable, before `say` returns. Time stands
still unless `pass_`, `until` or `quiet` lets it pass; `tick` moves it a little with each thing that is said, as it does
between two things that one person does.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import cast

import httpx

from aisle.client import Client, RetryPolicy
from aisle.client.transport import asgi_transport
from aisle.service.app_options_and_limits import RateLimits, ServiceOptions
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.db.database_interface import Database
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.open_service_and_admin_token import Service
from tests.courier.host import URL
from tests.courier.writes import STORE
from tests.faults import checker
from tests.faults.goods import CODES, ORDERS, PICK_UP, SHELVES, STOCK
from tests.faults.inline_storage import Inline
from tests.faults.link import Line
from tests.faults.shop import Shop


class _Signed(Line):
    """A line whose writes carry keys that tell where they come from."""

    signature = ""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["Idempotency-Key"] = f'"{self.signature}{self.requests:06d}"'
        return await super().handle_async_request(request)


class World(Shop):
    """Our own service and its hosts. Made by `world`, over a file in its folder or a storage that is lent."""

    def __init__(self, folder: Path, seed: int, lent: Database | None = None) -> None:
        super().__init__(folder, seed)
        self.storage = cast(Inline, lent) if lent else Inline(folder / "service.db")  # only a file's crashes
        # how often one may ask is counted in real seconds, and here a day passes in one of them
        unlimited = RateLimits(token=0, unauthenticated=0)
        self.service = Service(self.storage, ServiceOptions(self.time.clock, unlimited))
        self.transport = asgi_transport(self.service.app)
        made = create_token(
            self.storage,
            name=f"host-{secrets.token_hex(4)}",
            role="admin",
            store_numbers=None,
            now=format_timestamp(self.time.now),
        )
        self.secret = made.secret
        self._integrators = 0

    def crash_in(self, statements: int | None) -> None:
        """See Shop."""
        self.storage.crash_in = statements

    async def quiet(self) -> None:
        """The faults end; time passes until nothing is on its way any more and every screen shows it."""
        for host in self.hosts:
            host.line.still()
            await host.settle()
        await self.time.until(lambda: all(host.drained() and not host.line.stray for host in self.hosts))
        for host in self.hosts:
            host.ask_again()
        await self.time.pass_(10.0 + self.pace.changes)  # the next look at the service's cursor
        await self.time.until(lambda: all(host.drained() and host.has_read() for host in self.hosts))
        for host in self.hosts:
            for person in host.people:
                person.look()  # who waited for an order's lines claims it now
            host.wake()
        await self.time.until(lambda: all(host.drained() for host in self.hosts))

    def check(self) -> None:
        """Everything that has to be true once it is quiet. Raises AssertionError."""
        checker.check(self)

    def lying(self) -> dict[tuple[str, str], Decimal]:
        """All that the service has, free or held, by product and place; "" for no place."""
        return {spot: Decimal(have) / 1000 for spot, have in self.storage.read_now(checker.spots).items()}

    def integrator(self) -> Client:
        """A client of the service past all faults, whose writes the checker knows; for `async with`."""
        line = _Signed(self.transport, self.time.sleep, lambda _: None)
        self._integrators += 1
        line.signature = f"{checker.INTEGRATOR}{self._integrators:06d}-"
        return Client(URL, self.secret, transport=line, retry=RetryPolicy(tries=1), sleep=self.time.sleep)

    async def fill(self) -> None:
        """Stores, products, places, stock and orders, as an integrator brings them."""
        stores = [
            {
                "store_number": STORE,
                "store_name": "One",
                "is_warehouse": False,
                "is_active": True,
                "is_active_data_exchange": True,
            }
        ]
        products = [
            {"product_number": number, "product_name": f"Product {number}", "barcode": code, "price": 2}
            for number, code in CODES.items()
        ]
        places = [
            {"store_number": STORE, "location_code": code, "location_order": n, "default_stock_pool": "1"}
            for n, code in enumerate((*SHELVES, PICK_UP), 1)
        ]
        counts = [
            {"product_number": product, "location_code": place, "stock_pool_1": quantity}
            for product, spots in STOCK.items()
            for place, quantity in spots.items()
        ]
        async with self.integrator() as client:
            await client.call("create-stores", {"stores": stores})
            await client.call("create-or-update-products", {"products": products})
            await client.request_extension("POST", "/aisle/v1/locations", body={"locations": places})
            await client.call(
                "create-store-product-logs", {"storeproductlog": counts}, store_number=STORE, is_counted_quantity=True
            )
            await self.create_orders(client, ORDERS)

    async def create_orders(self, client: Client, orders: Mapping[str, tuple[tuple[str, int], ...]]) -> None:
        """Orders of a customer of the web shop."""
        bodies = [
            {
                "order_number": number,
                "order_lines": [
                    {"line_number": n, "product_number": product, "quantity": quantity}
                    for n, (product, quantity) in enumerate(lines, 1)
                ],
            }
            for number, lines in orders.items()
        ]
        await client.call("create-customer-orders-one-store", {"orders": bodies}, store_number=STORE)

    async def close(self) -> None:
        """Lets go of everything."""
        await super().close()
        self.service.close()


@asynccontextmanager
async def world(folder: Path, *, seed: int = 1) -> AsyncIterator[World]:
    """A filled store with one host, whose courier has the store in its cache. `folder` must lie on this host."""
    made = World(folder, seed)
    try:
        await made.fill()
        await made.add_host()
        yield made
    finally:
        await made.close()
