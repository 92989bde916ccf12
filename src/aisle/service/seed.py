"""The demo store, put into a new database through the same coroutines that answer requests, each at its own moment."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from aisle.service.context import Call, Context, Principal
from aisle.service.demo import DemoStore, demo_bodies
from aisle.service.demo_days import LOGS, MOVEMENT, OPENING, REVIEW, Deed
from aisle.service.demo_work import CREATE, DELIVERIES, UPDATE
from aisle.service.extensions import write_locations
from aisle.service.handlers import Run
from aisle.service.handlers.deliveries import create_store_deliveries
from aisle.service.handlers.logs import create_store_product_logs
from aisle.service.handlers.movement import create_movement
from aisle.service.handlers.order_create import create_in_one_store
from aisle.service.handlers.order_update import update_customer_order
from aisle.service.handlers.people import write_people
from aisle.service.handlers.products import create_or_update_products
from aisle.service.handlers.reviews import review_logs
from aisle.service.handlers.store_products import create_store_products
from aisle.service.handlers.stores import create_stores
from aisle.service.sql import core
from aisle.service.storage import Tx
from aisle.service.times import moment
from aisle.service.tokens import add_token, end_token, enter

_RUNS: dict[str, Run] = {
    LOGS: create_store_product_logs,
    MOVEMENT: create_movement,
    REVIEW: review_logs,
    DELIVERIES: create_store_deliveries,
    CREATE: create_in_one_store,
    UPDATE: update_customer_order,
}


async def is_filled(tx: Tx) -> bool:
    """Whether the database has a store, or products that somebody has loaded before there was one."""
    row = await tx.one(core.IS_FILLED)
    return bool(row and row[0])


async def seed(tx: Tx, now: float) -> bool:
    """Fill a database that nobody has filled yet; False when somebody has. All or nothing, as one transaction."""
    if await is_filled(tx):
        return False
    # This token is shown to nobody and ends at once: it only stands for the program itself.
    token = await add_token(tx, name="demo", role="admin", store_numbers=None, now=moment(now))
    opening = Deed(OPENING, 360, "", "").at(now)
    maker = _Maker(tx, Principal(token.token_id, "demo", "admin", True), opening)
    demo = demo_bodies(datetime.fromtimestamp(now, UTC).date())
    await maker.run(create_stores, {"stores": demo.stores})
    await maker.run(create_or_update_products, {"products": demo.products})
    await maker.run(write_locations, {"locations": demo.locations})
    await maker.run(write_people, {"people": demo.people}, demo.store_number)
    await _stock(maker, demo)
    await _history(maker, demo, now)
    await end_token(tx, token.token_id, moment(now))
    return True


async def _stock(maker: _Maker, demo: DemoStore) -> None:
    """Every store ranges what is counted in it; the shop itself ranges the whole catalogue."""
    for store, counts in demo.counts.items():
        ranged = dict.fromkeys(entry["product_number"] for entry in counts)
        items = demo.levels if store == demo.store_number else [{"product_number": number} for number in ranged]
        await maker.run(create_store_products, {"store_products": items}, store)
        await maker.run(create_store_product_logs, {"storeproductlog": counts}, store, is_counted_quantity=True)


async def _history(maker: _Maker, demo: DemoStore, now: float) -> None:
    """What people did since, as it happened: ids rise with time."""
    moved = b""
    for deed in sorted(demo.deeds, key=lambda each: each.at(now)):
        maker.seconds, maker.user = deed.at(now), deed.user or None
        body = _review_of(moved) if deed.operation == REVIEW else deed.body
        answer = await maker.run(_RUNS[deed.operation], body, demo.store_number, **deed.query)
        moved = answer if deed.operation == MOVEMENT else moved


def _review_of(moved: bytes) -> dict[str, Any]:
    taken, *_ = json.loads(moved)["data"].split(",")
    return {"reviews": [{"id": int(taken)}]}


class _Maker:
    """Runs operations one after the other in one transaction, each at the moment `seconds`, for `user`."""

    def __init__(self, tx: Tx, principal: Principal, seconds: float) -> None:
        self.seconds = seconds
        self.user: str | None = None
        self._tx = tx
        self._principal = principal
        self._count = 0

    async def run(self, operation: Run, body: Any, store_number: str | None = None, **query: Any) -> bytes:
        """One operation, as if it had been requested."""
        store = await enter(self._tx, self._principal, store_number) if store_number else None
        now = moment(self.seconds)
        self._count += 1
        op_id = f"demo/{self._count}"
        ctx = Context(self._tx, self._principal, now, self.seconds, op_id, now, app_user=self.user, store=store)
        path = {"store_number": store_number} if store_number else {}
        answer = await operation(ctx, Call(path, query, body))
        await ctx.finish()
        return answer
