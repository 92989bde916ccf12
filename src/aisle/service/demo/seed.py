"""Demo store: its data, and the requests that create it."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from aisle.contract.request_bodies.extension_bodies import ReviewsRequest
from aisle.service.auth.authorization import authorize_store
from aisle.service.auth.tokens_and_pins import TokenGrant, add_token, mark_revoked
from aisle.service.db.database_interface import Transaction
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.handlers.registry import HANDLERS
from aisle.service.operation_context import Context, OperationCall, ParamValues, Principal

STORE = "0001"
SUPERVISOR_PIN = "2468"
"""PIN of a supervisor, Fred Harper (U6)."""
CREATE_ORDERS = "create-customer-orders-one-store"
OPENING_DAY = 22
"""Days since the opening count."""

Body = dict[str, Any]

_DATA_FOLDER = Path(__file__).parent / "data"
_RELATIVE_DAY = re.compile(r"\{day ([+-]\d+)\}")
_DAY_S = 86400
_WEEKS_OF_HISTORY, _WEEKS_OF_FORECAST = range(-12, 0), range(4)
_PRODUCT_DEFAULTS: Body = {
    "allow_decimal": False,
    "base_unit_name": "piece",
    "carrier_item_quantity": 0.0,
    "edit_min_max_percentage": 50,
    "is_active": True,
    "is_stock": True,
    "price_compare_multiplier": 1.0,
    "shelf_label_quantity": 1,
}


class DemoRequest(NamedTuple):
    """Request of a person, `days` ago at this `minute` of the day (UTC); for today, this many minutes ago.

    A review concerns the loss that the movement before it caused.
    """

    days: int
    minute: int
    user: str
    operation: str
    body: Any = None
    query: ParamValues = MappingProxyType({})

    def sent_at(self, now: float) -> float:
        """Return the time of the request in seconds since 1970."""
        if not self.days:
            return now - self.minute * 60
        return now - now % _DAY_S - self.days * _DAY_S + self.minute * 60


class DemoStore(NamedTuple):
    """Items of the interface's create bodies, in the order in which they must be sent.

    `counts` maps a store number to entries of create store product logs, for `is_counted_quantity=true`. `people` have
    hashed PINs. `requests` are three weeks of work in order of time, including the creation of `orders`.
    """

    stores: list[Body]
    products: list[Body]
    locations: list[Body]
    people: list[Body]
    store_products: list[Body]
    counts: dict[str, list[Body]]
    orders: list[Body]
    requests: list[DemoRequest]


def load_demo_store(today: date) -> DemoStore:
    """Return the demo store. Only the dates of orders, deliveries and forecasts depend on `today`."""
    products = [_product(row) for row in _read_table("products", today)]
    by_number = {product["product_number"]: product for product in products}
    counts: dict[str, list[Body]] = {}
    for row in _read_table("counts", today):
        counts.setdefault(row.pop("store_number"), []).append(row | {"source": "demo", "reference": "opening stock"})
    orders = [_order(row, by_number) for row in _read_table("orders", today)]
    requests = [DemoRequest(**row) for row in _read_table("requests", today)]
    return DemoStore(
        _read_table("stores", today),
        products,
        _read_table("locations", today),
        _read_table("people", today),
        [_store_product(row, today) for row in _read_table("store_products", today)],
        counts,
        orders,
        [each._replace(body={"orders": orders}) if _creates_orders(each) else each for each in requests],
    )


def _creates_orders(request: DemoRequest) -> bool:
    return request.operation == CREATE_ORDERS and request.body is None


def _read_table(name: str, today: date) -> list[Body]:
    def iso_date(match: re.Match[str]) -> str:
        return (today + timedelta(days=int(match[1]))).isoformat()

    text = _RELATIVE_DAY.sub(iso_date, (_DATA_FOLDER / f"{name}.jsonl").read_text("utf-8"))
    names, *rows = map(json.loads, text.splitlines())
    return [{key: value for key, value in zip(names, row, strict=False) if value is not None} for row in rows]


def _product(row: Body) -> Body:
    if "category_name" in row:
        row["free_fields"] = [{"sort_order": 1, "key": "category_name", "value": row.pop("category_name")}]
    return _PRODUCT_DEFAULTS | row


def _store_product(row: Body, today: date) -> Body:
    """Add the weeks of the figures, and their mean."""
    if "history_array" not in row:
        return row
    past, coming = (
        [f"W{(today + timedelta(weeks=week)).isocalendar().week}" for week in weeks]
        for weeks in (_WEEKS_OF_HISTORY, _WEEKS_OF_FORECAST)
    )
    mean = round(sum(row["history_array"]) / len(past), 1)
    keys = {"history_keys": past, "average_keys": past, "forecast_keys": coming}
    return row | keys | {"average_array": [mean] * len(past)}


def _order(row: Body, products: dict[str, Body]) -> Body:
    """Complete the lines of an order, which name product and quantity."""
    pickup = row.pop("pickup_date")
    lines = [
        {
            "line_number": position,
            "product_number": number,
            "barcode": products[number]["barcode"],
            "description": products[number]["product_name"],
            "quantity": quantity,
            "price": products[number]["price"],
            "stock_pool": 1,
            "picking_stock_pool_array": ["1", "2"],
            "pickup_date": pickup,
        }
        for position, (number, quantity) in enumerate(row["order_lines"], 1)
    ]
    return row | {"order_lines": lines}


_REVIEW, _MOVEMENT = "review-logs", "create-movement"
_TOKEN_NAME = "aisle demo store"
"""Name of the token under which the demo store is made."""


async def has_data(tx: Transaction) -> bool:
    """Return True if the database has a store or a product."""
    row = await tx.one(tokens_sql.HAS_DATA)
    return bool(row and row[0])


async def has_demo_store(tx: Transaction) -> bool:
    """Return True if the database was filled with the demo store, whose token is revoked ever since."""
    return bool(await tx.one(tokens_sql.HAS_REVOKED_TOKEN, _TOKEN_NAME))


async def seed_demo(tx: Transaction, now: float) -> bool:
    """Fill an empty database in one transaction. Return False if it has data."""
    if await has_data(tx):
        return False
    # Nobody gets this token, and it is revoked at the end. It identifies the program.
    token = await add_token(tx, TokenGrant(_TOKEN_NAME, "admin"), format_timestamp(now))
    opening = DemoRequest(OPENING_DAY, 360, "", "").sent_at(now)
    runner = _RequestRunner(tx, Principal(token.token_id, "demo", "admin", True), opening)
    demo = load_demo_store(datetime.fromtimestamp(now, UTC).date())
    await runner.run("create-stores", {"stores": demo.stores})
    await runner.run("create-or-update-products", {"products": demo.products})
    await runner.run("write-locations", {"locations": demo.locations})
    await runner.run("write-people", {"people": demo.people}, STORE)
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
        await runner.run("create-store-products", {"store_products": items}, store)
        await runner.run("create-store-product-logs", {"storeproductlog": counts}, store, {"is_counted_quantity": True})


async def _seed_history(runner: _RequestRunner, demo: DemoStore, now: float) -> None:
    """Run the requests in order of time, so that ids increase with time."""
    movement_answer = b""
    for request in demo.requests:
        runner.now_seconds, runner.user = request.sent_at(now), request.user or None
        body = _review_body(movement_answer) if request.operation == _REVIEW else request.body
        answer = await runner.run(request.operation, body, STORE, request.query)
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
        self, operation: str, body: Any, store_number: str | None = None, query: ParamValues | None = None
    ) -> bytes:
        """Run one operation like a request whose PINs are hashed."""
        store = await authorize_store(self._tx, self._principal, store_number) if store_number else None
        now = format_timestamp(self.now_seconds)
        self._count += 1
        op_id = f"demo/{self._count}"
        ctx = Context(self._tx, self._principal, now, self.now_seconds, op_id, now, app_user=self.user, store=store)
        path = {"store_number": store_number} if store_number else {}
        answer = await HANDLERS[operation].run(ctx, OperationCall(path, query or {}, body))
        await ctx.write_deferred()
        return answer
