"""Seed of a new database with the demo store, through the same handlers as requests, each at its own time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from aisle.contract.models.extension_bodies import ReviewsRequest
from aisle.service.auth.tokens import add_token, authorize_store, mark_revoked
from aisle.service.db import Transaction
from aisle.service.db.statements import access
from aisle.service.demo.store import CREATE_ORDERS, OPENING_DAY, STORE, DemoRequest, DemoStore, load_demo_store
from aisle.service.domain.timestamps import format_timestamp
from aisle.service.handlers.deliveries import create_store_deliveries
from aisle.service.handlers.locations import write_locations
from aisle.service.handlers.logs import create_store_product_logs, review_logs
from aisle.service.handlers.movements import create_movement
from aisle.service.handlers.order_create import create_orders_in_store
from aisle.service.handlers.order_update import update_customer_order
from aisle.service.handlers.people import write_people
from aisle.service.handlers.products import create_or_update_products
from aisle.service.handlers.registry import RunOperation
from aisle.service.handlers.store_products import create_store_products
from aisle.service.handlers.stores import create_stores
from aisle.service.operation_context import Context, OperationCall, Principal
from aisle.service.query_values import QueryValues

_REVIEW, _MOVEMENT = "review-logs", "create-movement"
_HANDLERS: dict[str, RunOperation] = {
    "create-store-product-logs": create_store_product_logs,
    _MOVEMENT: create_movement,
    _REVIEW: review_logs,
    "create-store-deliveries": create_store_deliveries,
    CREATE_ORDERS: create_orders_in_store,
    "update-customer-order": update_customer_order,
}


_TOKEN_NAME = "aisle demo store"
"""Name of the token under which the demo store is made."""


async def has_data(tx: Transaction) -> bool:
    """Return True if the database has a store or a product."""
    row = await tx.one(access.HAS_DATA)
    return bool(row and row[0])


async def has_demo_store(tx: Transaction) -> bool:
    """Return True if the database was filled with the demo store, whose token is revoked ever since."""
    return bool(await tx.one(access.HAS_REVOKED_TOKEN, _TOKEN_NAME))


async def seed_demo(tx: Transaction, now: float) -> bool:
    """Fill an empty database in one transaction. Return False if it has data."""
    if await has_data(tx):
        return False
    # Nobody gets this token, and it is revoked at the end. It identifies the program.
    token = await add_token(tx, name=_TOKEN_NAME, role="admin", store_numbers=None, now=format_timestamp(now))
    opening = DemoRequest(OPENING_DAY, 360, "", "").sent_at(now)
    runner = _RequestRunner(tx, Principal(token.token_id, "demo", "admin", True), opening)
    demo = load_demo_store(datetime.fromtimestamp(now, UTC).date())
    await runner.run(create_stores, {"stores": demo.stores})
    await runner.run(create_or_update_products, {"products": demo.products})
    await runner.run(write_locations, {"locations": demo.locations})
    await runner.run(write_people, {"people": demo.people}, STORE)
    await _seed_stock(runner, demo)
    await _seed_history(runner, demo, now)
    await mark_revoked(tx, token.token_id, format_timestamp(now))
    return True


async def _seed_stock(runner: _RequestRunner, demo: DemoStore) -> None:
    """Create the store products and opening counts.

    Each store has the counted products; the shop has the whole catalogue.
    """
    for store, counts in demo.counts.items():
        ranged = dict.fromkeys(entry["product_number"] for entry in counts)
        items = demo.store_products if store == STORE else [{"product_number": number} for number in ranged]
        await runner.run(create_store_products, {"store_products": items}, store)
        await runner.run(create_store_product_logs, {"storeproductlog": counts}, store, {"is_counted_quantity": True})


async def _seed_history(runner: _RequestRunner, demo: DemoStore, now: float) -> None:
    """Run the requests in order of time, so that ids increase with time."""
    movement_answer = b""
    for request in demo.requests:
        runner.now_seconds, runner.user = request.sent_at(now), request.user or None
        body = _review_body(movement_answer) if request.operation == _REVIEW else request.body
        answer = await runner.run(_HANDLERS[request.operation], body, STORE, request.query)
        movement_answer = answer if request.operation == _MOVEMENT else movement_answer


def _review_body(movement_result: bytes) -> ReviewsRequest:
    taken, *_ = json.loads(movement_result)["data"].split(",")
    return {"reviews": [{"id": int(taken)}]}


class _RequestRunner:
    """Runner of operations in one transaction, each at the time `now_seconds` for `user`."""

    def __init__(self, tx: Transaction, principal: Principal, seconds: float) -> None:
        self.now_seconds = seconds
        self.user: str | None = None
        self._tx = tx
        self._principal = principal
        self._count = 0

    async def run(
        self, operation: RunOperation, body: Any, store_number: str | None = None, query: QueryValues | None = None
    ) -> bytes:
        """Run one operation like a request."""
        store = await authorize_store(self._tx, self._principal, store_number) if store_number else None
        now = format_timestamp(self.now_seconds)
        self._count += 1
        op_id = f"demo/{self._count}"
        ctx = Context(self._tx, self._principal, now, self.now_seconds, op_id, now, app_user=self.user, store=store)
        path = {"store_number": store_number} if store_number else {}
        answer = await operation(ctx, OperationCall(path, query or {}, body))
        await ctx.write_deferred()
        return answer
