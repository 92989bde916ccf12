"""Goods of a product at locations: what is held there for order lines, and what is free to be picked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import TYPE_CHECKING

import apsw

from aisle.cache.overlaid_order import closed_orders
from aisle.cache.pending_operations import orders_of_operation
from aisle.cache.query_context import QueryContext
from aisle.cache.stock_overlay import apply_to_held
from aisle.host.database import fetch
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import Operation

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import HeldGoodsRow
    from aisle.jobs.row_types.orders import LocationStockRow

_HELD_OF_PRODUCTS = """
SELECT e.value ->> 0, h.location_code, h.order_number, h.line_number, h.quantity FROM json_each(?) e
JOIN put_down h ON h.location_code = e.value ->> 1 AND h.product_number = e.value ->> 0
JOIN orders o ON o.order_number = h.order_number WHERE o.state < 2 LIMIT ?
"""

HeldByLocation = dict[str, list["HeldGoodsRow"]]
"""Goods of one product held for order lines, by location."""


def lines_read_times(cache: apsw.Connection, operations: Iterable[Operation]) -> dict[str, float | None]:
    """Return by order the time at which the read of its lines began, for orders whose goods these operations move."""
    numbers = sorted({number for operation in operations for number in orders_of_operation(operation)})
    sql = "SELECT o.order_number, o.lines_read_began FROM json_each(?) e JOIN orders o ON o.order_number = e.value"
    return dict(fetch(cache, sql, to_text(numbers))) if numbers else {}


def location_codes(locations: Iterable[LocationStockRow]) -> list[str]:
    """Return the codes of these locations."""
    return [str(location["location_code"]) for location in locations]


def held_by_location(
    context: QueryContext, codes_by_product: Mapping[str, Sequence[str]], limit: int = -1
) -> dict[str, HeldByLocation]:
    """Return the goods held at these locations of products, with pending movements.

    Locations without any are left out. Goods held for orders that were rejected or finished here are held for nobody.
    `limit`: greatest number of lines that are read; all if it is negative.
    """
    pending = {product: context.pending_products.get(product, ()) for product in codes_by_product}
    pairs = [(product, code) for product, codes in codes_by_product.items() for code in codes]
    found: dict[tuple[str, str], list[HeldGoodsRow]] = {}
    rows = sorted(fetch(context.cache, _HELD_OF_PRODUCTS, to_text(pairs), limit), key=itemgetter(2, 3))
    for product, code, order, line, quantity in rows:
        row: HeldGoodsRow = {"order_number": order, "line_number": line, "quantity": to_decimal(quantity)}
        found.setdefault((product, code), []).append(row)
    began = lines_read_times(context.cache, (each for own in pending.values() for each in own))
    result: dict[str, HeldByLocation] = {product: {} for product in codes_by_product}
    for product, code in pairs:
        held = apply_to_held(found.get((product, code), ()), code, product, pending[product], began)
        if held:
            result[product][code] = held
    closed = closed_orders(
        context, {row["order_number"] for held in result.values() for own in held.values() for row in own}
    )
    return {product: _without_orders(held, closed) for product, held in result.items()} if closed else result


def _without_orders(held: HeldByLocation, closed: Iterable[str]) -> HeldByLocation:
    left = {code: [row for row in rows if row["order_number"] not in closed] for code, rows in held.items()}
    return {code: rows for code, rows in left.items() if rows}


def free_locations(locations: Iterable[LocationStockRow], held: HeldByLocation) -> list[LocationStockRow]:
    """Return the locations of a product with their free quantities, without those whose goods are all held."""
    free: list[LocationStockRow] = []
    for location in locations:
        rows = held.get(str(location["location_code"]), ())
        quantity = location["quantity"]
        left = (quantity or Decimal(0)) - sum((row["quantity"] for row in rows), Decimal(0))
        if not rows:
            free.append(location)
        elif quantity is not None and left > 0:
            free.append({**location, "quantity": left})
    return free
