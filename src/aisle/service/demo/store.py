"""Content of the demo store: bodies of requests, read from the tables in `data`.

A table has a line with names, then a line for each row; what a row leaves out is null. `{day -3}` is the date three
days ago. Brands are invented. Barcodes are in GS1's ranges for examples (952) and restricted circulation (2), phone
numbers in the range for fiction.
"""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from aisle.service.query_values import QueryValues

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
    query: QueryValues = QueryValues()

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
