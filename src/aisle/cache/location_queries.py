"""Locations as a session sees them: all in walking order, or one with everything at it.

The stock list says which products are at a location; the lines of orders say which of these goods are held for
customers. interface: Location, Stock location entry, Line location.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from aisle.cache.free_and_held_stock import free_locations, held_by_location, location_codes
from aisle.cache.locations_in_walk_order import LocationStep
from aisle.cache.pools_and_locations_of_rows import (
    entry_quantity,
    load_walk_orders,
    pool_quantities,
    sort_by_walk_order,
    stock_locations,
)
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    declare_query,
    topic_of,
    topics_of_list,
    topics_of_rows,
    whole_topics,
    window_bounds,
)
from aisle.cache.stock_overlay import products_touched_at
from aisle.cache.stored_row_values import Row, parse_row, round_sum
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import format_topic
from aisle.jobs.job import Args, Json
from aisle.jobs.pick.put_down_at_location import is_pickup_location
from aisle.named_tuple_json import to_text
from aisle.row_values import to_decimal
from aisle.search_text import search_words

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import (
        LocationHeader,
        LocationRow,
        LocationsOfProductsRow,
        LocationsRow,
        LocationSums,
        LocationUseRow,
        ProductHereRow,
    )
    from aisle.jobs.row_types.orders import HeldAtLocationRow

MAX_HELD_ROWS = 50
"""Most order lines whose held goods of a product are listed."""

MAX_KEYED_PRODUCTS = 200
"""Greatest number of products in an answer with a topic each, because topics go with every frame.

Beyond it any product concerns the answer.
"""


class ProductHere(NamedTuple):
    """Product at a location, with what its row lacks."""

    name: str
    number: str
    row: ProductHereRow
    tags: list[str]
    """Tags of the location, as the stock list has them."""


_PRODUCT_COLUMNS = """p.product_number, p.name, p.unit, p.allow_decimal,
  CASE WHEN p.name = '' THEN s.raw ->> 'product_description' END, CASE WHEN p.raw <> '' THEN p.raw -> 'price' END"""
"""Columns of a product that do not depend on the location."""

_STOCK_AT_LOCATION = f"""
SELECT {_PRODUCT_COLUMNS}, s.raw -> 'price', (
  SELECT json_group_array(json(e.value)) FROM json_each(s.raw, '$.store_locations') e
  WHERE e.value ->> 'store_location_code' = x.location_code
)
FROM (
  SELECT x.id, x.location_code FROM stock_location x JOIN product p ON p.id = x.id
  WHERE x.location_code = ? AND x.has_goods AND p.product_number NOT IN (SELECT value FROM json_each(?))
  ORDER BY p.name, p.product_number LIMIT ?
) x JOIN product p ON p.id = x.id JOIN stock s ON s.id = x.id ORDER BY p.name, p.product_number
"""  # noqa: S608 - columns of our own
"""Stock at a location without these products. The subquery keeps the skipped ones from being read further."""

_PRODUCTS_WITH_STOCK = f"""
SELECT {_PRODUCT_COLUMNS} FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN stock s ON s.id = p.id
"""  # noqa: S608 - the same

_CACHED_QUANTITIES = """
SELECT x.location_code, p.product_number, x.has_goods, x.quantity FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN stock_location x ON x.id = p.id
WHERE x.location_code IN (SELECT value FROM json_each(?))
"""
"""Stock of these products at these locations as cached."""


def aisle_of(code: str) -> str:
    """Return the part of a code that the locations of an aisle share: up to the first number after a letter or mark.

    `A-03-2` and `A03` are in `A`. A code of digits alone is in the group of its digits before the first mark.
    """
    found = re.match(r"[^\W\d_]+|\d+(?=\D)", code)
    return found[0].casefold() if found else ""


@declare_query("locations", "search beside first size", topics_of_rows("location", "location_code"))
def list_locations(context: QueryContext, args: Args) -> QueryResult[LocationsRow]:
    """Return a window on the locations in walking order, each with its number of products and total quantity.

    `beside` names a location: only its aisle is listed, and without `first` the window contains that location.
    """
    words = search_words(str(args.get("search") or ""))
    beside = str(args.get("beside") or "")
    aisle = aisle_of(beside)
    cache, found = context.cache, context.walk_order().steps
    if words or beside:
        found = [each for each in found if _matches(each, words, aisle if beside else None)]
    first, size = window_bounds(args)
    if beside and "first" not in args:
        at = next((index for index, (code, *_) in enumerate(found) if code == beside), 0)
        first = max(0, min(at - size // 2, len(found) - size))
    shown = found[first : first + size]
    stock = _StockHere(context, [code for code, *_ in shown])
    return [{**location_header(cache, code, order), **stock.sums(code)} for code, order, _ in shown], len(found)


def _matches(step: LocationStep, words: Sequence[str], aisle: str | None) -> bool:
    """Return True if the code of a location contains these words, with or without its marks, and is in this aisle."""
    code, _, text = step
    bare = text.replace(" ", "")
    return all(word in text or word in bare for word in words) and (aisle is None or aisle_of(code) == aisle)


def _topics_of_location(args: Args, rows: Sequence[Json]) -> list[str]:
    products = [product for row in rows for product in row.get("products") or ()]
    own_topic = format_topic("location", str(args.get("location_code") or ""))
    if len(products) > MAX_KEYED_PRODUCTS:
        return [own_topic, "product"]
    return [own_topic, *(format_topic("product", str(product.get("product_number") or "")) for product in products)]


@declare_query("location", "location_code size product_number", _topics_of_location)
def load_location(context: QueryContext, args: Args) -> QueryResult[LocationRow]:
    """Return one location with everything at it.

    `total` and `quantity` cover everything. `products` are sorted by name, at most `size` of them, or only
    `product_number` if given. Goods held for orders that were rejected or finished here are held for nobody.
    """
    cache, walk_order, code = context.cache, context.walk_order(), str(args["location_code"])
    at = walk_order.position_by_code.get(code)
    if at is None:
        return [], 0
    header = location_header(cache, code, walk_order.steps[at][1])
    asked_product, size = str(args.get("product_number") or ""), args.get("size")
    stock = _StockHere(context, [code], asked_product)
    found = (
        stock.product(code, asked_product)
        if asked_product
        else stock.products(code, -1 if size is None else max(0, int(size)))
    )
    rows = [each.row for each in found]
    held = held_by_location(context, {row["product_number"]: [code] for row in rows})
    for row in rows:
        row["held"] = held[row["product_number"]].get(code, [])
    tags: list[str] = next((each.tags for each in found if each.tags), [])
    sums = stock.sums(code)
    location: LocationRow = {
        **header,
        "tags": header["tags"] or tags,
        "is_stock_unknown": not fetch(cache, "SELECT 1 FROM stock LIMIT 1"),
        "unnamed": not fetch(cache, "SELECT 1 FROM location_tally LIMIT 1"),
        "total": sums["products"],
        "quantity": sums["quantity"],
        "products": rows,
        "before": walk_order.steps[at - 1][0] if at else "",
        "after": walk_order.steps[at + 1][0] if at + 1 < len(walk_order.steps) else "",
    }
    return [location], 1


def location_header(cache: apsw.Connection, code: str, order: Json) -> LocationHeader:
    """Return the row of a location without its stock."""
    row = fetch_one(cache, "SELECT raw FROM location WHERE location_code = ?", code)
    raw = parse_row(row[0]) if row else {}
    tags = raw.get("tags")
    return {
        "location_code": code,
        "location_order": order,
        "default_stock_pool": int(to_decimal(raw.get("default_stock_pool"))),
        "tags": [str(tag) for tag in tags] if isinstance(tags, list) else [],
    }


def count_tags(cache: apsw.Connection) -> list[tuple[str, int]]:
    """Return each tag with its number of locations."""
    rows = fetch(cache, "SELECT tag, n FROM tag_tally WHERE n > 0 ORDER BY tag")
    return [(str(tag), int(count)) for tag, count in rows]


def locations_with_tag(cache: apsw.Connection, tag: str, locations: Iterable[str]) -> set[str]:
    """Return those of these locations that have the tag."""
    sql = "SELECT e.value FROM json_each(?) e CROSS JOIN tag t ON t.tag = ? AND t.location_code = e.value"
    return {str(code) for (code,) in fetch(cache, sql, to_text(list(locations)), tag)}


def tagged_locations(cache: apsw.Connection, tags: Iterable[str]) -> set[str]:
    """Return the locations that have any of these tags."""
    sql = "SELECT t.location_code FROM json_each(?) e CROSS JOIN tag t ON t.tag = e.value"
    return {str(code) for (code,) in fetch(cache, sql, to_text(list(tags)))}


class _StockHere:
    """Stock at some locations, with pending operations overlaid.

    Only products with pending operations, and the one asked for by name, are computed one by one; these are few.
    """

    def __init__(self, context: QueryContext, codes: Sequence[str], only: str = "") -> None:
        self._cache = cache = context.cache
        self._cached: dict[str, dict[str, tuple[bool, float | None]]] = {code: {} for code in codes}
        """Cached stock of these products by location: (has stock, quantity)."""
        named = [*context.pending_products.possible_keys(), *([only] if only else [])]
        for code, number, has_goods, quantity in (
            fetch(cache, _CACHED_QUANTITIES, to_text(named), to_text(list(codes))) if named else ()
        ):
            self._cached[code][number] = (bool(has_goods), quantity)
        computed = {
            code: {*self._cached[code], *products_touched_at(context.overlay, code), *([only] if only else [])}
            for code in codes
        }
        self._overlaid: dict[str, list[ProductHere]] = {code: [] for code in codes}
        """Computed products with stock, by location."""
        numbers = sorted(set().union(*computed.values()))
        products = {row[0]: row for row in fetch(cache, _PRODUCTS_WITH_STOCK, to_text(numbers))} if numbers else {}
        for number, overlaid in context.overlaid_stock(numbers):
            product = products[number]
            for code in codes:
                if number in computed[code]:
                    here = stock_at(overlaid, code)
                    if here.quantity is None or here.quantity or here.pools:
                        self._overlaid[code].append(_product_here(product, overlaid.get("price"), here))

    def sums(self, code: str) -> LocationSums:
        """Return the sums over all goods at a location."""
        sql = "SELECT products, quantity, unknown FROM location_tally WHERE location_code = ?"
        products, quantity, unknown = fetch_one(self._cache, sql, code) or (0, 0.0, 0)
        replaced = [quantity for has_goods, quantity in self._cached[code].values() if has_goods]
        quantities = [each.row["quantity"] for each in self._overlaid[code]]
        count = products - len(replaced) + len(quantities)
        if unknown > replaced.count(None) or None in quantities:
            return {"products": count, "quantity": None}
        rest = round_sum(float(quantity) - sum(each for each in replaced if each is not None))
        return {"products": count, "quantity": sum((each for each in quantities if each is not None), rest)}

    def products(self, code: str, size: int) -> list[ProductHere]:
        """Return the products at a location by name, at most `size` of them unless it is negative."""
        cached = fetch(self._cache, _STOCK_AT_LOCATION, code, to_text(list(self._cached[code])), size) if size else []
        found: list[ProductHere] = []
        for *product, price, entries in cached:
            stock = stock_at(parse_row(f'{{"store_locations":{entries}}}'), code)
            found.append(_product_here(product, _parse_value(price), stock))
        if self._overlaid[code]:
            found = sorted([*found, *self._overlaid[code]], key=lambda each: each[:2])
        return found if size < 0 else found[:size]

    def product(self, code: str, number: str) -> list[ProductHere]:
        """Return this product; empty if none of it is at the location."""
        return [each for each in self._overlaid[code] if each.number == number]


class StockAtLocation(NamedTuple):
    """Stock of a product at a location, in total and by pool."""

    quantity: Decimal | None
    """Total quantity; None if the service does not state it."""
    pools: dict[str, Decimal]
    tags: list[str]
    """Tags of the location, as the stock list has them."""


def stock_at(stock: Row, code: str) -> StockAtLocation:
    """Return the stock at a location from a stock entry."""
    entries = [entry for entry in stock.get("store_locations") or () if entry.get("store_location_code") == code]
    by_pool: dict[str, Decimal] = {}
    for entry in entries:
        for pool, quantity in pool_quantities(entry, "stock_pool_").items():
            by_pool[pool] = by_pool.get(pool, Decimal(0)) + to_decimal(quantity)
    tags: list[Any] = next((entry["tags"] for entry in entries if isinstance(entry.get("tags"), list)), [])
    quantities = [entry_quantity(entry, "stock_pool_") for entry in entries]
    return StockAtLocation(
        None if None in quantities else sum((quantity for quantity in quantities if quantity is not None), Decimal(0)),
        {pool: quantity for pool, quantity in by_pool.items() if quantity},
        [str(tag) for tag in tags],
    )


def _product_here(product: Sequence[Any], price: Json, stock: StockAtLocation) -> ProductHere:
    number, name, unit, decimals, stock_name, catalogue = product
    row: ProductHereRow = {
        "product_number": number,
        "description": name or str(stock_name or ""),
        "quantity": stock.quantity,
        "pools": stock.pools,
        "allow_decimal": bool(decimals),
        "unit": unit,
        "price": to_decimal(price or _parse_value(catalogue)),
        "held": [],
    }
    return ProductHere(str(name), str(number), row, stock.tags)


def _parse_value(text: str | None) -> Json:
    """Parse a part of a stored row that was selected as JSON text."""
    return parse_row(text) if text else None


PRODUCT_BATCH = 10
"""Products whose lines are queried at once. At a location in use for orders the first batch mostly tells."""

FIRST_LINES = 10
"""Lines of a batch that are checked before all others."""

_PRODUCTS_AT_LOCATION = """
SELECT p.product_number FROM stock_location x JOIN product p ON p.id = x.id WHERE x.location_code = ? ORDER BY x.id
"""


@declare_query("location_use", "location_code", whole_topics())
def location_use(context: QueryContext, args: Args) -> QueryResult[LocationUseRow]:
    """Return the use of a location (`location_code`).

    `is_used` is not checked if its own tags make it a pick-up location. `goods` are counted if it is neither.
    """
    code = str(args["location_code"])
    if code not in context.walk_order().position_by_code:
        return [], 0
    tags: list[str] = location_header(context.cache, code, None)["tags"]
    if is_pickup_location(tags):
        return _use_row(tags)
    cached_numbers = [str(number) for (number,) in fetch(context.cache, _PRODUCTS_AT_LOCATION, code)]
    # Those of pending operations first: a location in use for orders mostly gets goods by them.
    numbers = list(dict.fromkeys([*products_touched_at(context.overlay, code), *cached_numbers]))
    if _holds_goods_of_orders(context, code, numbers):
        return _use_row(tags, is_used=True)
    stock = list(_stock_of_products_at(context, code, numbers))
    tags = tags or next((each.tags for each in stock if each.tags), [])
    return _use_row(tags, sum(each.quantity is None or each.quantity > 0 for each in stock))


def _use_row(tags: list[str], goods: int = 0, *, is_used: bool = False) -> QueryResult[LocationUseRow]:
    return [{"tags": tags, "goods": goods, "is_used": is_used}], 1


def _holds_goods_of_orders(context: QueryContext, code: str, numbers: Sequence[str]) -> bool:
    for first in range(0, len(numbers), PRODUCT_BATCH):
        codes = {number: [code] for number in numbers[first : first + PRODUCT_BATCH]}
        for limit in (FIRST_LINES, -1):
            held = held_by_location(context, codes, limit)
            if any(_stock_of_products_at(context, code, [number for number, rows in held.items() if rows])):
                return True
    return False


def _stock_of_products_at(context: QueryContext, code: str, numbers: Sequence[str]) -> Iterator[StockAtLocation]:
    """Yield the stock of these products at a location; each is computed when its turn comes."""
    for _, entry in context.overlaid_stock(numbers):
        found = stock_at(entry, code)
        if found.quantity is None or found.quantity or found.pools:
            yield found


_PREFERRED_LOCATIONS = """
SELECT l.product_number, l.raw ->> 'preferred_location_code', count(*) FROM json_each(?) e
JOIN line l ON l.product_number = e.value WHERE l.raw ->> 'preferred_location_code' <> ''
GROUP BY 1, 2 ORDER BY 3 DESC, 2
"""


@declare_query("locations_of_products", "product_numbers", topics_of_list("product", "product_numbers"))
def locations_of_products(context: QueryContext, args: Args) -> QueryResult[LocationsOfProductsRow]:
    """Return the locations of these products, one row each: those with stock first, in walking order.

    After them come the locations that order lines prefer, the most frequent first.
    """
    cache, numbers = context.cache, [str(each) for each in args["product_numbers"]]
    found: list[LocationsOfProductsRow] = []
    for number, entry in context.overlaid_stock(numbers):
        locations = stock_locations(entry)
        found += [
            {
                "product_number": number,
                "location_code": location["location_code"],
                "location_order": location["location_order"],
                "quantity": location["quantity"],
            }
            for location in free_locations(
                locations, held_by_location(context, {number: location_codes(locations)})[number]
            )
        ]
    rows = sort_by_walk_order(found, load_walk_orders(cache, {location["location_code"] for location in found}))
    rows.sort(key=lambda row: row["quantity"] is not None and to_decimal(row["quantity"]) <= 0)
    rows += _preferred_locations(
        cache, to_text(numbers), {(row["product_number"], row["location_code"]) for row in rows}
    )
    return rows, len(rows)


@declare_query("held_goods", "product_number", topic_of("product", "product_number", "order"))
def held_goods_of_product(context: QueryContext, args: Args) -> QueryResult[HeldAtLocationRow]:
    """Return the goods of a product that are held at its locations for order lines, at most `MAX_HELD_ROWS`."""
    number = str(args["product_number"])
    rows: list[HeldAtLocationRow] = []
    for _, entry in context.overlaid_stock([number]):
        locations = stock_locations(entry)
        held = held_by_location(context, {number: location_codes(locations)})[number]
        rows += [{"location_code": code, **row} for code, found in held.items() for row in found]
    return rows[:MAX_HELD_ROWS], len(rows)


def _preferred_locations(
    cache: apsw.Connection, numbers: str, known: set[tuple[str, str]]
) -> list[LocationsOfProductsRow]:
    """Return the locations that order lines prefer for these products, without the known ones."""
    preferred = [
        (number, code) for number, code, _ in fetch(cache, _PREFERRED_LOCATIONS, numbers) if (number, code) not in known
    ]
    orders = load_walk_orders(cache, {code for _, code in preferred})
    return [
        {"product_number": number, "location_code": code, "location_order": orders.get(code), "quantity": Decimal(0)}
        for number, code in preferred
    ]
