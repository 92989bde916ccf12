"""Places as a session sees them: all of them in the order of feet, or one with everything that lies on it.

What lies where is what the stock list says of each product; what of it is held for customers, the lines of their orders
say. interface: Location, Stock location entry, Line location.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.operation import Operation
from aisle.local.reads.overlay import Row, decimal, orders_of
from aisle.local.reads.overlay_goods import Goods, lay_held, lay_stock
from aisle.local.reads.rows import Result, loaded, pools, window
from aisle.local.reads.walk import Step, Walk
from aisle.tuples import NamedTuple
from aisle.words import fold

SIZE = 20
"""Rows of a window when nobody says how many."""

REMEMBERED = 100
"""Of a place with more products nothing is kept: a session stays small."""

Known = dict[str, tuple[tuple[Any, ...], Row]]
"""Of each product of the place that was read last, what its row was made of, and the row."""

_LYING = """
SELECT p.product_number, p.name, p.unit, p.allow_decimal, p.raw, s.raw, s.began
FROM product p JOIN stock s ON s.id = p.id
WHERE p.id IN (
  SELECT id FROM place WHERE location_code = ?
  UNION SELECT id FROM product WHERE product_number IN (SELECT value FROM json_each(?))
) ORDER BY p.name, p.product_number
"""

_HELD = """
SELECT h.product_number, h.order_number, h.line_number, h.quantity FROM json_each(?) e
JOIN held h ON h.location_code = ? AND h.product_number = e.value JOIN orders o ON o.order_number = h.order_number
WHERE o.state < 2
"""
_FEW_HELD = f"{_HELD} LIMIT ?"
_ALL_HELD = f"{_HELD} ORDER BY h.order_number, h.line_number"


def aisle_of(code: str) -> str:
    """What the places of one aisle have in common: the code up to its first number that follows a letter or a mark.

    `A-03-2` and `A03` belong to `A`; a code of digits alone belongs to those before its first mark.
    """
    found = re.match(r"[^\W\d_]+|\d+(?=\D)", code)
    return found[0].casefold() if found else ""


def places(cache: apsw.Connection, goods: Goods, walk: Walk, args: Mapping[str, Json]) -> Result:
    """A window on the places in the order of feet, each with how many products lie there and how much in all.

    `beside` names a place: only those of its aisle. Without `first` the window then begins so that this place is in it.
    """
    words = fold(str(args.get("search") or "")).split()
    beside = str(args.get("beside") or "")
    aisle = aisle_of(beside)
    found = walk.steps
    if words or beside:
        found = [each for each in walk.steps if _is_asked(each, words, aisle if beside else None)]
    first, size = window(args, SIZE)
    if beside and "first" not in args:
        at = next((index for index, (code, *_) in enumerate(found) if code == beside), 0)
        first = max(0, min(at - size // 2, len(found) - size))
    return [_summary(cache, goods, code, order) for code, order, _ in found[first : first + size]], len(found)


def _is_asked(each: Step, words: Sequence[str], aisle: str | None) -> bool:
    """Whether a place has these words in its code, as it is written or without its marks, and is in this aisle."""
    code, _, text = each
    bare = text.replace(" ", "")
    return all(word in text or word in bare for word in words) and (aisle is None or aisle_of(code) == aisle)


def _summary(cache: apsw.Connection, goods: Goods, code: str, order: Json) -> Row:
    lying = _lying(cache, goods, code, {})
    return {
        **head(cache, code, order),
        "products": len(lying),
        "quantity": sum((row["quantity"] for row in lying), Decimal(0)),
    }


def place(
    cache: apsw.Connection, goods: Goods, walk: Walk, args: Mapping[str, Json], known: Known | None = None
) -> Result:
    """One place with everything on it, and its neighbours in the order of feet (`before`, `after`; empty at an end).

    `known` is kept by the caller: a page that is looked at again mostly shows the same.
    """
    code = str(args["location_code"])
    at = walk.at.get(code)
    if at is None:
        return [], 0
    lying = _lying(cache, goods, code, {} if known is None else known)
    pending = goods.pending()
    held = held_at(cache, code, [row["product_number"] for row in lying])
    began = began_of(cache, [operation for row in lying for operation in pending.get(row["product_number"], ())])
    for row in lying:
        number = str(row["product_number"])
        row["held"] = lay_held(held.get(number, []), code, number, pending.get(number, ()), began)
    tags: list[str] = next((row["tags"] for row in lying if row["tags"]), [])
    itself = head(cache, code, walk.steps[at][1])
    one: Row = {
        **itself,
        "tags": itself["tags"] or tags,
        "products": [{name: value for name, value in row.items() if name != "tags"} for row in lying],
        "before": walk.steps[at - 1][0] if at else "",
        "after": walk.steps[at + 1][0] if at + 1 < len(walk.steps) else "",
    }
    return [one], 1


def head(cache: apsw.Connection, code: str, order: Json) -> Row:
    """What is known of a place itself."""
    row = fetch_one(cache, "SELECT raw FROM location WHERE location_code = ?", code)
    raw = loaded(row[0]) if row else {}
    tags = raw.get("tags")
    return {
        "location_code": code,
        "location_order": order,
        "default_stock_pool": int(decimal(raw.get("default_stock_pool"))),
        "tags": [str(tag) for tag in tags] if isinstance(tags, list) else [],
    }


def _lying(cache: apsw.Connection, goods: Goods, code: str, known: Known) -> list[Row]:
    """What the stock list says of this place, by name; products of which nothing is left there are not among them."""
    before = dict(known)
    known.clear()
    pending = goods.pending()
    for number, *rest in fetch(cache, _LYING, code, to_text(goods.coming(code))):
        said = (code, pending.get(number, ()), number, *rest)
        kept = before.get(number)
        known[number] = kept if kept is not None and kept[0] == said else (said, _product(*said))
    rows = [{**row} for _, row in known.values() if row["quantity"] or row["pools"]]
    if len(known) > REMEMBERED:
        known.clear()
    return rows


class Lying(NamedTuple):
    """What of a product lies at a place: in all, and by pool."""

    quantity: Decimal
    pools: dict[str, Decimal]
    tags: list[str]
    """Those of the place, as the stock list has them."""


def lying_of(stock: Row, code: str) -> Lying:
    """By what a stock entry says."""
    entries = [entry for entry in stock.get("store_locations") or () if entry.get("store_location_code") == code]
    by_pool: dict[str, Decimal] = {}
    for entry in entries:
        for pool, quantity in pools(entry, "stock_pool_").items():
            by_pool[pool] = by_pool.get(pool, Decimal(0)) + decimal(quantity)
    tags: list[Any] = next((entry["tags"] for entry in entries if isinstance(entry.get("tags"), list)), [])
    return Lying(
        sum((decimal(entry.get("quantity")) for entry in entries), Decimal(0)),
        {pool: quantity for pool, quantity in by_pool.items() if quantity},
        [str(tag) for tag in tags],
    )


def _product(
    code: str,
    operations: Sequence[Operation],
    number: str,
    name: str,
    unit: str,
    decimals: int,
    catalogue: str,
    stock: str,
    began: float,
) -> Row:
    known = lay_stock(loaded(stock), number, operations, began)
    item = loaded(catalogue) if catalogue else {}
    here = lying_of(known, code)
    return {
        "product_number": number,
        "description": name or str(known.get("product_description") or ""),
        "quantity": here.quantity,
        "pools": here.pools,
        "allow_decimal": bool(decimals),
        "unit": unit,
        "price": decimal(known.get("price") or item.get("price")),
        "tags": here.tags,
    }


def began_of(cache: apsw.Connection, operations: Iterable[Operation]) -> dict[str, float | None]:
    """When the reads of the lines began of all orders that these operations move goods of."""
    numbers = sorted({number for operation in operations for number in orders_of(operation)})
    sql = "SELECT o.order_number, o.lines_began FROM json_each(?) e JOIN orders o ON o.order_number = e.value"
    return dict(fetch(cache, sql, to_text(numbers))) if numbers else {}


def held_at(cache: apsw.Connection, code: str, numbers: Sequence[str], most: int = 0) -> dict[str, list[Row]]:
    """What of these products is held at this place for order lines, by product: all of it by order and line, or `most`
    of these, whichever come first."""
    held: dict[str, list[Row]] = {}
    asked = (to_text(list(numbers)), code)
    found = fetch(cache, _FEW_HELD, *asked, most) if most else fetch(cache, _ALL_HELD, *asked)
    for product, order, line, quantity in found:
        row: Row = {"order_number": order, "line_number": line, "quantity": decimal(quantity)}
        held.setdefault(product, []).append(row)
    return held
