"""Queries for shortages and scans that do not fit a pick: other locations, reasons, unexpected products."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.free_and_held_stock import held_by_location, lines_read_times, location_codes
from aisle.cache.location_queries import count_tags, tagged_locations
from aisle.cache.locations_in_walk_order import WalkOrder
from aisle.cache.order_queries import orders_with_product
from aisle.cache.pools_and_locations_of_rows import location_entries, pool_quantities
from aisle.cache.product_queries import query_product
from aisle.cache.queries import QueryContext, QueryResult, declare_query, topic_of, whole_topics
from aisle.cache.stock_overlay import apply_to_held
from aisle.cache.stored_row_values import Row, parse_row
from aisle.host.database import fetch
from aisle.jobs.job import Args, Json
from aisle.jobs.pick.put_down_at_location import is_pickup_location
from aisle.named_tuple_json import to_text
from aisle.row_values import to_decimal
from aisle.search_text import natural_key

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import HeldGoodsRow, OtherLocationsRow, PickupLocationsRow, StockAtLocationRow
    from aisle.jobs.row_types.log import ShortReasonsRow
    from aisle.jobs.row_types.orders import LocationStockRow
    from aisle.jobs.row_types.products import LabelledProduct, OrderOfCustomerRow, ProductRow, UnexpectedProductRow

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


MAX_LOCATIONS = 4
"""Greatest number of pick-up locations that are named."""

MAX_ORDERS = 3
"""Greatest number of other orders that are named for a product."""

_PRODUCTS_BY_NUMBER = """
SELECT p.product_number, p.name, p.raw FROM json_each(?) e JOIN product p ON p.product_number = e.value ORDER BY e.key
"""


@declare_query("unexpected_product", "product_number orders products", whole_topics())
def unexpected_product(context: QueryContext, args: Args) -> QueryResult[UnexpectedProductRow]:
    """Return one row on a product that none of `orders` needs (product_number, orders, and their open `products`).

    `deprecation_date`, `is_active` and `is_template` are those of the catalogue.
    """
    cache, number = context.cache, str(args["product_number"])
    (rows, _), open_numbers = query_product(context, args), [str(each) for each in args.get("products") or ()]
    found_product: ProductRow | Row = rows[0] if rows else {}
    open_products = [
        (str(each), str(name or each), parse_row(raw) if raw else {})
        for each, name, raw in _load_products(cache, open_numbers)
    ]
    components = _set_components(found_product)
    referral = str(found_product.get("referral_product_id") or found_product.get("referral_product") or "")
    label = next((str(name or each) for each, name, _ in _load_products(cache, [referral])), referral)
    own_orders = {str(each) for each in args.get("orders") or ()}
    found, _ = orders_with_product(context, {"product_number": number, "size": MAX_ORDERS + len(own_orders)})
    other_orders: list[OrderOfCustomerRow] = [
        {"order_number": each["order_number"], "customer_name": each["customer_name"]}
        for each in found
        if each["needed"] > 0 and each["order_number"] not in own_orders
    ]
    row: UnexpectedProductRow = {
        "is_template": bool(found_product.get("is_template")),
        "referral": referral,
        "referral_label": label,
        "wholes": [_product_label(each, name) for each, name, raw in open_products if number in _set_components(raw)],
        "parts": [_product_label(each, name) for each, name, _ in open_products if each in components],
        "orders": other_orders[:MAX_ORDERS],
    }
    if "deprecation_date" in found_product:
        row["deprecation_date"] = found_product["deprecation_date"]
    if "is_active" in found_product:
        row["is_active"] = found_product["is_active"]
    return [row], 1


def _load_products(cache: apsw.Connection, numbers: Sequence[str]) -> list[tuple[Any, ...]]:
    given_numbers = [number for number in numbers if number]
    return fetch(cache, _PRODUCTS_BY_NUMBER, to_text(given_numbers)) if given_numbers else []


def _set_components(raw: Row | ProductRow) -> set[str]:
    """Return the components of a set. interface: Product (set_product)."""
    set_parts = raw.get("set_product")
    parts = set_parts if isinstance(set_parts, list) else ()
    return {str(part.get("set_product_number")) for part in parts if isinstance(part, dict)}


def _product_label(number: str, label: str) -> LabelledProduct:
    return {"product_number": number, "label": label}


@declare_query("stock_at_location", "product_number location_code", whole_topics())
def stock_of_product_at(context: QueryContext, args: Args) -> QueryResult[StockAtLocationRow]:
    """Return the stock of a product at a location: `pools` by number, total `quantity`, and the goods held there.

    Arguments: product_number, location_code.
    """
    rows, _ = query_product(context, args)
    code = str(args["location_code"]).casefold()
    found = [
        location for row in rows for location in row["locations"] if str(location["location_code"]).casefold() == code
    ]
    if not found:
        return [], 0
    pools: dict[str, Decimal] = {}
    for location in found:
        for pool, quantity in location["pools"].items():
            pools[pool] = pools.get(pool, Decimal(0)) + to_decimal(quantity)
    quantity = sum((to_decimal(location["quantity"]) for location in found), Decimal(0))
    number = str(args["product_number"])
    held = [row for rows in held_by_location(context, {number: location_codes(found)})[number].values() for row in rows]
    return [{"pools": pools, "quantity": quantity, "held_goods": held}], 1


@declare_query("pickup_locations", "like", whole_topics())
def pickup_locations(context: QueryContext, args: Args) -> QueryResult[PickupLocationsRow]:
    """Return one row with the codes of some pick-up locations (`locations`), and the number of all (`count`).

    Codes most similar to `like` come first.
    """
    waiting = [tag for tag, _ in count_tags(context.cache) if is_pickup_location((tag,))]
    found = list(tagged_locations(context.cache, waiting))
    like = _code_parts(str(args.get("like") or ""))
    found.sort(key=lambda code: (_code_parts(code) != like, natural_key(code)))
    return ([{"locations": found[:MAX_LOCATIONS], "count": len(found)}], 1) if found else ([], 0)


def _code_parts(code: str) -> tuple[str, ...]:
    """Return the parts of a code without separators and leading zeros."""
    return tuple(part.lstrip("0") for part in re.findall(r"[^\W\d_]+|\d+", code.casefold()))
