"""Writes of orders and movements, as jobs make them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Author, Intent

STORE = "0001"
ANNA = Author(STORE, "U1")
BEN = Author(STORE, "U2")


def update(order: str, lines: Mapping[int, int | Decimal], *, merge: bool = True, **header: Any) -> Write:
    """An update of an order: what each line stands at, as the pick job writes it."""
    body = [
        {"line_number": line, "product_number": f"P{line}", "picked_quantity": Decimal(picked)}
        for line, picked in lines.items()
    ]
    lane = f"order/{order}"
    orders = {"order_number": order, **header, "order_lines": body}
    path = {"store_number": STORE}
    return Write("update-customer-order", (lane,), path, {}, {"orders": orders}, merge_key=lane if merge else "")


def movement(order: str, product: str, quantity: int = 1) -> Write:
    """A movement of goods to a line of an order."""
    to = {"customer_order_number": order, "customer_order_line_number": 1, "location_code": "PU-01"}
    held = {"customer_order_number": order, "customer_order_line_number": 1}
    item = {"product_number": product, "quantity": Decimal(quantity), "from_location": held, "to_location": to}
    lanes = (f"order/{order}", f"product/{product}")
    return Write("create-movement", lanes, {"store_number": STORE}, {"AppUserName": "U1"}, [item])


def intents(*writes: Write) -> list[Intent]:
    """Writes as the journal hands them in."""
    return [Intent(write, "JOB", seq, "2026-03-02T08:00:00Z") for seq, write in enumerate(writes, 1)]


def enqueue(outbox: OperationQueue, *writes: Write) -> tuple[str, ...]:
    """Queue writes of Anna in one transaction. Return their ids."""
    with transaction(outbox._db):
        return outbox.enqueue(intents(*writes), ANNA)


def picked(body: Any) -> dict[int, Decimal]:
    """What the lines of an update stand at."""
    return {line["line_number"]: line["picked_quantity"] for line in body["orders"]["order_lines"]}
