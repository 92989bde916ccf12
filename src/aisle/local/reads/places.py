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
from aisle.local.reads.rows import Result, loaded, pools, said_of, summed, window
from aisle.local.reads.walk import Step, Walk
from aisle.tuples import NamedTuple
from aisle.words import fold

SIZE = 20
"""Rows of a window when nobody says how many."""

Named = tuple[str, str, Row]
"""Name and number of a product, and its row."""

_ABOUT = """p.product_number, p.name, p.unit, p.allow_decimal,
  CASE WHEN p.name = '' THEN s.raw ->> 'product_description' END, CASE WHEN p.raw <> '' THEN p.raw -> 'price' END"""
"""What is said of a product at any place."""

_LYING = f"""
SELECT {_ABOUT}, s.raw -> 'price', (
  SELECT json_group_array(json(e.value)) FROM json_each(s.raw, '$.store_locations') e
  WHERE e.value ->> 'store_location_code' = x.location_code
)
FROM (
  SELECT x.id, x.location_code FROM place x JOIN product p ON p.id = x.id
  WHERE x.location_code = ? AND x.lies AND p.product_number NOT IN (SELECT value FROM json_each(?))
  ORDER BY p.name, p.product_number LIMIT ?
) x JOIN product p ON p.id = x.id JOIN stock s ON s.id = x.id ORDER BY p.name, p.product_number
"""  # noqa: S608 - columns of our own
"""What lies at a place by the stock list, but for these products; of those that are left out nothing more is read."""

_RECKONED = f"""
SELECT {_ABOUT}, s.raw, s.began FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN stock s ON s.id = p.id
"""  # noqa: S608 - the same

_SAID = """
SELECT x.location_code, p.product_number, x.lies, x.quantity FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN place x ON x.id = p.id
WHERE x.location_code IN (SELECT value FROM json_each(?))
"""
"""What the stock list says of these products at these places."""

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
    shown = found[first : first + size]
    here = _Here(cache, goods, [code for code, *_ in shown])
    return [{**head(cache, code, order), **here.sums(code)} for code, order, _ in shown], len(found)


def _is_asked(each: Step, words: Sequence[str], aisle: str | None) -> bool:
    """Whether a place has these words in its code, as it is written or without its marks, and is in this aisle."""
    code, _, text = each
    bare = text.replace(" ", "")
    return all(word in text or word in bare for word in words) and (aisle is None or aisle_of(code) == aisle)


def place(cache: apsw.Connection, goods: Goods, walk: Walk, args: Mapping[str, Json]) -> Result:
    """One place with everything on it, and its neighbours in the order of feet (`before`, `after`; empty at an end).

    `unsaid`: the service has not said of anything how much there is; `unnamed`: it has not said of any goods at which
    place they lie.
    `total` and `quantity` are of all of it; `products` are those by name, `size` of them at most where that is given,
    or the `product_number` alone that is asked about.
    """
    code = str(args["location_code"])
    at = walk.at.get(code)
    if at is None:
        return [], 0
    itself = head(cache, code, walk.steps[at][1])
    only, size = str(args.get("product_number") or ""), args.get("size")
    here = _Here(cache, goods, [code], only)
    rows = here.row(code, only) if only else here.rows(code, -1 if size is None else max(0, int(size)))
    pending = goods.pending()
    held = held_at(cache, code, [row["product_number"] for row in rows])
    began = began_of(cache, [operation for row in rows for operation in pending.get(row["product_number"], ())])
    for row in rows:
        number = str(row["product_number"])
        row["held"] = lay_held(held.get(number, []), code, number, pending.get(number, ()), began)
    tags: list[str] = next((row["tags"] for row in rows if row["tags"]), [])
    sums = here.sums(code)
    one: Row = {
        **itself,
        "tags": itself["tags"] or tags,
        "unsaid": not fetch(cache, "SELECT 1 FROM stock LIMIT 1"),
        "unnamed": not fetch(cache, "SELECT 1 FROM place_tally LIMIT 1"),
        "total": sums["products"],
        "quantity": sums["quantity"],
        "products": [{name: value for name, value in row.items() if name != "tags"} for row in rows],
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


class _Here:
    """What lies at some places: by the stock list, but for products of which something is on its way, or that are asked
    for by name. These are few, and are reckoned one by one."""

    def __init__(self, cache: apsw.Connection, goods: Goods, codes: Sequence[str], only: str = "") -> None:
        self._cache = cache
        self._pending = goods.pending()
        self._said: dict[str, dict[str, tuple[bool, float | None]]] = {code: {} for code in codes}
        """Of each place what the stock list says of these products: whether any is there, and how much."""
        named = [*self._pending.named(), *([only] if only else [])]
        for code, number, lies, quantity in fetch(cache, _SAID, to_text(named), to_text(list(codes))) if named else ():
            self._said[code][number] = (bool(lies), quantity)
        reckoned = {code: {*self._said[code], *goods.coming(code), *([only] if only else [])} for code in codes}
        self._reckoned: dict[str, list[Named]] = {code: [] for code in codes}
        """Of each place those that are there."""
        numbers = sorted(set().union(*reckoned.values()))
        for *about, stock, began in fetch(cache, _RECKONED, to_text(numbers)) if numbers else ():
            number = str(about[0])
            laid = lay_stock(loaded(stock), number, self._pending.get(number, ()), began)
            for code in codes:
                row = _row(about, laid.get("price"), lying_of(laid, code)) if number in reckoned[code] else {}
                if row and (row["quantity"] is None or row["quantity"] or row["pools"]):
                    self._reckoned[code].append((str(about[1]), number, row))

    def sums(self, code: str) -> Row:
        """How many products lie there (`products`), and how much in all (`quantity`; None where nobody says it)."""
        sql = "SELECT products, quantity, unsaid FROM place_tally WHERE location_code = ?"
        products, quantity, unsaid = fetch_one(self._cache, sql, code) or (0, 0.0, 0)
        said = [quantity for lies, quantity in self._said[code].values() if lies]
        rows = [row for *_, row in self._reckoned[code]]
        found = {"products": products - len(said) + len(rows)}
        if unsaid > said.count(None) or any(row["quantity"] is None for row in rows):
            return {**found, "quantity": None}
        rest = summed(float(quantity) - sum(each for each in said if each is not None))
        return {**found, "quantity": sum((row["quantity"] for row in rows), rest)}

    def rows(self, code: str, size: int) -> list[Row]:
        """The products by name, `size` at most where it is not negative."""
        known = fetch(self._cache, _LYING, code, to_text(list(self._said[code])), size) if size else []
        found: list[Named] = []
        for *about, price, entries in known:
            here = lying_of(loaded(f'{{"store_locations":{entries}}}'), code)
            found.append((str(about[1]), str(about[0]), _row(about, _value(price), here)))
        if self._reckoned[code]:
            found = sorted([*found, *self._reckoned[code]], key=lambda each: each[:2])
        return [row for *_, row in (found if size < 0 else found[:size])]

    def row(self, code: str, number: str) -> list[Row]:
        """This product, where any of it is there."""
        return [row for _, each, row in self._reckoned[code] if each == number]


class Lying(NamedTuple):
    """What of a product lies at a place: in all, and by pool."""

    quantity: Decimal | None
    """None where nobody says it."""
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
    said = [said_of(entry, "stock_pool_") for entry in entries]
    return Lying(
        None if None in said else sum((quantity for quantity in said if quantity is not None), Decimal(0)),
        {pool: quantity for pool, quantity in by_pool.items() if quantity},
        [str(tag) for tag in tags],
    )


def _row(about: Sequence[Any], price: Json, here: Lying) -> Row:
    number, name, unit, decimals, told, catalogue = about
    return {
        "product_number": number,
        "description": name or str(told or ""),
        "quantity": here.quantity,
        "pools": here.pools,
        "allow_decimal": bool(decimals),
        "unit": unit,
        "price": decimal(price or _value(catalogue)),
        "tags": here.tags,
    }


def _value(text: str | None) -> Json:
    """A part of a kept row, as text of its own."""
    return loaded(text) if text else None


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
