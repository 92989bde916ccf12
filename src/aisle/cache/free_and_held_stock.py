"""Goods free to be picked and goods held for orders, by location, with pending movements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import TYPE_CHECKING

import apsw

from aisle.cache.order_overlay import closed_orders
from aisle.cache.pending_operations import orders_of_operation
from aisle.cache.pools_and_locations_of_rows import location_entries, stock_locations
from aisle.cache.queries import QueryContext
from aisle.cache.stock_overlay import apply_to_held
from aisle.cache.stored_row_values import Row
from aisle.host.database import fetch
from aisle.jobs.pick.pick_line import is_from_warehouse
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import Operation
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import HeldGoodsRow
    from aisle.jobs.row_types.orders import LocationStockRow, OrderLineRow, OrderRow

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
    """Return the locations of a product with their free quantities, without those whose goods are all held.

    An unknown quantity stays unknown.
    """
    free: list[LocationStockRow] = []
    for location in locations:
        rows, quantity = held.get(str(location["location_code"]), ()), location["quantity"]
        left = None if quantity is None else quantity - sum((row["quantity"] for row in rows), Decimal(0))
        if not rows or left is None or left > 0:
            free.append({**location, "quantity": left})
    return free


def add_stock_at_locations(context: QueryContext, orders: Iterable[OrderRow]) -> None:
    """Add `stock` and `stock_by_pool` to each line, in place: quantity of its product by location, and by pool there.

    They are empty if unknown, and for lines picked from the warehouse, whose stock is not here.
    """
    lines = [line for order in orders for line in order["lines"]]
    from_store = [line for line in lines if not is_from_warehouse(line)]
    numbers = sorted({str(line["product_number"]) for line in from_store})
    found = {number: _locations_with_stock(entry) for number, entry in context.overlaid_stock(numbers)}
    held = held_by_location(
        context, {number: location_codes(locations) for number, locations in found.items() if locations}
    )
    for line in lines:
        line["stock"], line["stock_by_pool"], line["held_goods"] = {}, {}, []
    for line in from_store:
        locations = found.get(str(line["product_number"]))
        held_here = held.get(str(line["product_number"]), {})
        line["held_goods"] = [{"location_code": code, **row} for code, rows in held_here.items() for row in rows]
        if locations and held_here:
            free = {each["location_code"]: each for each in free_locations(locations, held_here)}
            locations = [
                free.get(each["location_code"], {**each, "quantity": Decimal(0), "pools": {}}) for each in locations
            ]
        line["stock"] = _with_line_locations(line, locations)
        line["stock_by_pool"] = {each["location_code"]: each["pools"] for each in locations or () if each["pools"]}


def _with_line_locations(line: OrderLineRow, locations: list[LocationStockRow] | None) -> dict[str, Decimal]:
    """Return the known quantities by location, with 0 at the line's other locations if the store names locations.

    The list of the stock leaves out an empty location. Locations without a quantity are left out. If no location is
    left to name, the empty code has 0: the stock is known, and it is at none.
    """
    if locations is None:
        return {}
    own = str(line.get("preferred_location_code") or line.get("stock_location") or "")
    codes = (own, *(str(each.get("location_code") or "") for each in line.get("locations") or ()))
    quantities: dict[str, Decimal | None] = {code: Decimal(0) for code in codes if code}
    quantities |= {each["location_code"]: each["quantity"] for each in locations}
    quantities = quantities or {"": Decimal(0)}
    return {code: quantity for code, quantity in quantities.items() if quantity is not None}


def _locations_with_stock(entry: Row) -> list[LocationStockRow] | None:
    """Return the locations of a product; None if unknown: an entry without a code may be any location."""
    is_known = "store_locations" in entry and all(each.get("store_location_code") for each in location_entries(entry))
    return stock_locations(entry) if is_known else None
