"""Queries for a shortage: other locations with free stock, and the rejection reasons of late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import apsw

from aisle.cache.free_and_held_stock import lines_read_times
from aisle.cache.list_window import QueryResult
from aisle.cache.locations_in_walk_order import WalkOrder
from aisle.cache.parse_stored_row import parse_row
from aisle.cache.pools_and_locations_of_rows import location_entries, pool_quantities
from aisle.cache.product_queries import query_product
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, topic_of, whole_topics
from aisle.cache.stock_overlay import apply_to_held
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.jobs.job import Args, Json

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import HeldGoodsRow, OtherLocationsRow
    from aisle.jobs.row_types.log import ShortReasonsRow
    from aisle.jobs.row_types.orders import LocationStockRow

    class _HeldInPools(HeldGoodsRow):
        pools: dict[str, Json]


MAX_RECENT = 300
"""Orders of each state that are searched for reasons."""

_HELD_OF_PRODUCT = """
SELECT l.order_number, l.line_number, l.raw FROM line l JOIN orders o ON o.order_number = l.order_number
WHERE l.product_number = ? AND o.state < 2 AND instr(l.raw, '"customer_order_number"')
ORDER BY l.order_number, l.line_number
"""

_ORDER_REASONS = """
SELECT raw ->> 'rejection_reason_code', raw ->> 'rejection_reason_code_description' FROM (
  SELECT raw FROM orders WHERE state = ? ORDER BY pickup DESC LIMIT ?
) WHERE raw ->> 'rejection_reason_code' <> '' AND raw ->> 'rejection_reason_code_description' <> ''
"""

_LINE_REASONS = """
SELECT l.raw ->> 'rejection_reason_code', l.raw ->> 'rejection_reason_code_description' FROM (
  SELECT order_number FROM orders WHERE state = ? ORDER BY pickup DESC LIMIT ?
) o JOIN line l ON l.order_number = o.order_number
WHERE instr(l.raw, '"rejection_reason_code"') AND l.raw ->> 'rejection_reason_code' <> ''
  AND l.raw ->> 'rejection_reason_code_description' <> ''
"""


@declare_query("other_locations", "product_number location pools", topic_of("product", "product_number"))
def other_locations(context: QueryContext, args: Args) -> QueryResult[OtherLocationsRow]:
    """Return the other locations with stock of a product that belongs to no order, nearest to `location` first.

    `pools` names the pools to pick from, none: any. The
    quantity is what is free in these pools. Picks that the service has not confirmed are deducted already.
    """
    products, _ = query_product(context, args)
    if not products:
        return [], 0
    cache, pending, product = context.cache, context.pending_products, products[0]
    number, allowed = str(product["product_number"]), [str(pool) for pool in args.get("pools") or ()]
    held = _held_by_location(cache, number)
    began = lines_read_times(cache, pending.get(number, ()))
    found: list[OtherLocationsRow] = []
    for location in product["locations"]:
        code = str(location["location_code"])
        held_here = held.get(code, [])
        still_held = apply_to_held(held_here, code, number, pending.get(number, ()), began)
        if location["quantity"] is None:
            continue  # the quantity there is unknown
        free_in_all = to_decimal(location["quantity"]) - sum((row["quantity"] for row in still_held), Decimal(0))
        pool, free = _free_quantity(location, held_here, allowed, free_in_all)
        if free > 0 and code.casefold() != str(args.get("location") or "").casefold():
            found.append({"location_code": code, "quantity": free, "pool": pool})
    steps = _distances(
        context.walk_order(), str(args.get("location") or ""), [str(row["location_code"]) for row in found]
    )
    found.sort(key=lambda row: steps[row["location_code"]])
    return found, len(found)


def _free_quantity(
    place: LocationStockRow, held: Iterable[_HeldInPools], allowed: Sequence[str], free_in_all: Decimal
) -> tuple[int, Decimal]:
    """Return (pool, quantity) of the free goods at a location in the allowed pools.

    `free_in_all` is the free quantity over all pools.
    """
    available = {str(pool): to_decimal(quantity) for pool, quantity in place["pools"].items()}
    if not available:
        return 0, free_in_all
    for goods in held:
        for pool, quantity in goods["pools"].items():
            if pool in available:
                available[pool] -= to_decimal(quantity)
    default_pool = str(int(to_decimal(place.get("default_stock_pool"))))
    candidates = allowed or sorted(available, key=lambda pool: (pool != default_pool, int(pool)))
    usable = [pool for pool in candidates if available.get(pool, Decimal(0)) > 0]
    if not usable:
        return 0, Decimal(0)
    return int(usable[0]), min(free_in_all, sum((available[pool] for pool in usable), Decimal(0)))


def _held_by_location(cache: apsw.Connection, number: str) -> dict[str, list[_HeldInPools]]:
    """Return the goods of a product held for order lines, by location."""
    held: defaultdict[str, list[_HeldInPools]] = defaultdict(list)
    for order, line, raw in fetch(cache, _HELD_OF_PRODUCT, number):
        for entry in location_entries(parse_row(raw)):
            if str(entry.get("customer_order_number") or "") != order or not entry.get("location_code"):
                continue
            if to_decimal(entry.get("customer_order_line_number") or line) == line:
                goods: _HeldInPools = {
                    "order_number": order,
                    "line_number": line,
                    "quantity": to_decimal(entry.get("quantity")),
                    "pools": pool_quantities(entry, "most_likely_pool_"),
                }
                held[str(entry["location_code"])].append(goods)
    return held


def _distances(walk_order: WalkOrder, here: str, codes: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the distance of these locations from `here` in walking order, those ahead first.

    Without `here` return their position.
    """
    at = walk_order.position_by_folded_code
    start = at.get(here.casefold())
    offsets = {code: at.get(code.casefold(), len(at)) - (start or 0) for code in codes}
    return {code: (abs(steps), int(steps < 0)) for code, steps in offsets.items()}


@declare_query("short_reasons", "", whole_topics())
def recent_reasons(context: QueryContext, _: Args) -> QueryResult[ShortReasonsRow]:
    """Return the rejection reasons that orders and lines named lately: `code` and `text`, each code once."""
    found: dict[str, str] = {}
    for sql in (_ORDER_REASONS, _LINE_REASONS):
        for state in (2, 1, 0):
            for code, words in fetch(context.cache, sql, state, MAX_RECENT):
                found.setdefault(str(code), str(words))
    rows: list[ShortReasonsRow] = [{"code": code, "text": found[code]} for code in sorted(found)]
    return rows, len(rows)
