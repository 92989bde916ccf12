"""A host whose service implements only the interface document, with a courier that reconciles."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from aisle.courier.courier import Courier
from aisle.courier.push.outgoing_request import PushSettings
from aisle.host.database import transaction
from aisle.jobs.job import Resolve, Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.outbox.observed_behaviour import LOG_FOUND_BY_REFERENCE, MOVEMENT_FOUND_BY_REFERENCE, ObservedBehaviour
from aisle.outbox.operation_record import Operation
from tests.courier.document_service import Plain
from tests.courier.host import Host
from tests.courier.host import quiet as quiet_pace
from tests.courier.writes import STORE, movement

MOVE, LOG, PUT = "create-movement", "create-store-product-logs", "update-customer-order"


class Shop(Host):
    """A host at a service of the document alone."""

    fake: Plain

    def __init__(self, root: Path) -> None:
        super().__init__(root, Plain())
        self.fake.time = self.time
        self.pace = quiet_pace()
        self.fake.add_products(f"P{n}" for n in range(1, 9))
        self.fake.add_locations("A-1", "A-2", "B-1")
        for n in range(1, 6):
            self.fake.add_order(f"O{n}")

    @property
    def probes(self) -> ObservedBehaviour:
        return ObservedBehaviour(self.desk.db, clock=self.time.clock)

    @asynccontextmanager
    async def working(self, **care: Any) -> AsyncIterator[Courier]:
        """A courier at work."""
        async with self.running(self.courier(intervals=self.pace, push_settings=PushSettings(**care))) as courier:
            await self.time.until(lambda: self.state() == "live", 60)
            yield courier

    async def until(self, op_id: str, *states: str, within_s: float = 400) -> Operation:
        await self.time.until(lambda: self.desk.state(op_id) in states, within_s)
        return self.desk.outbox.get(op_id)

    async def prove(self, *writes: Write) -> None:
        """The service has shown that such writes can be read back."""
        for write in writes or (movement("P8", 1, "A-1", "B-1"), loss("P8")):
            (op_id,) = self.desk.write(write)
            await self.until(op_id, "done")
            name = MOVEMENT_FOUND_BY_REFERENCE if write.operation == MOVE else LOG_FOUND_BY_REFERENCE
            await self.time.until(lambda name=name: self.probes.get(name), 300)  # type: ignore[misc]

    def applied(self, name: str, product: str = "P1") -> int:
        """How often something was carried out for a product."""
        return sum(1 for what, entry in self.fake.applied if what == name and entry.get("product_number") == product)

    def settle(self, op_id: str, how: str) -> bool:
        with transaction(self.desk.db):
            return self.desk.outbox.resolve(Resolve(op_id, how, "said so"), "U1")


def loss(*products: str, **fields: Any) -> Write:
    entries: list[Any] = [
        {"product_number": product, "location_code": "A-1", "quantity": Decimal(-1), "source": "aisle", **fields}
        for product in products
    ]
    return log_write(entries, products, STORE, "U1")
