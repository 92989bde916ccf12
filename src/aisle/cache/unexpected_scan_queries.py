"""Queries for scans that do not fit a pick: a product that no order needs, a location that is no stop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.free_and_held_stock import held_by_location, location_codes
from aisle.cache.list_window import QueryResult
from aisle.cache.location_queries import count_tags, tagged_locations
from aisle.cache.order_queries import orders_with_product
from aisle.cache.parse_stored_row import Row, parse_row
from aisle.cache.product_queries import query_product
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.jobs.pick.put_down_at_location import is_pickup_location
from aisle.named_tuple_json import to_text
from aisle.search_text import natural_key

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import PickupLocationsRow, StockAtLocationRow
    from aisle.jobs.row_types.products import LabelledProduct, OrderOfCustomerRow, ProductRow, UnexpectedProductRow

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
