"""Orders as a session sees them: the cache with the outbox laid over it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.window import COUNTED
from aisle.local.cache.schema_orders import OPEN, SHORTEST
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.operation import UPDATE, Operation
from aisle.local.reads.laid import Known, Pending, header_of, laid_lines, lines_of, order_row, progress
from aisle.local.reads.overlay import Row, decimal, is_full, is_in, lay_over, may_be_in
from aisle.local.reads.rows import (
    Found,
    Result,
    kept_places,
    line_places,
    loaded,
    location_orders,
    stock_places,
    walked,
    window,
)
from aisle.words import fold

Key = tuple[str, str, str]
"""(pickup, sort, order_number): what the list is sorted by."""

Shift = tuple[frozenset[str], list[Key]]
"""How pending operations change the list: orders that leave it, and keys of those that come into it, in its order."""

SIZE = 50
"""Rows of a window when nobody says how many."""

MOST = COUNTED
"""Orders with some words that are counted; whoever gets as many types another letter."""

GLANCE, OFTEN = 200, 10
"""Of so many orders at the beginning of the list, so many with the words: the list itself has enough of them soon."""

RARE = 500
"""More orders than this, by their index, are not looked through: the list has them sooner."""


def orders(cache: apsw.Connection, pending: Pending, laid: Known, shift: Shift, args: Mapping[str, Json]) -> Found:
    """A window on the open orders: those named `ahead`, then by pickup date and number. `laid`: orders that were laid
    over before."""
    first, size = window(args, SIZE)
    search, product = fold(str(args.get("search") or "")), str(args.get("product_number") or "")
    ahead = {number: rank for rank, number in enumerate(args.get("ahead") or ())}
    if search or product:
        keys = _matching(cache, pending, shift, search.split(), product, list(ahead))
        keys.sort(key=lambda key: ahead.get(key[2], len(ahead)))
        partly = not product and len(keys) > MOST
        keys = keys[:MOST] if partly else keys
        return Found(_rows(cache, pending, laid, keys[first : first + size]), len(keys), partly)
    total = fetch(cache, "SELECT n FROM tally WHERE state = ?", OPEN)[0][0] - len(shift[0]) + len(shift[1])
    before = _ahead(cache, shift, list(ahead)) if ahead else []
    keys = before[first : first + size]
    shift = (shift[0].union(ahead), [key for key in shift[1] if key[2] not in ahead]) if ahead else shift
    rest = _window(cache, shift, max(0, first - len(before)), size - len(keys))
    return Found(_rows(cache, pending, laid, [*keys, *rest]), total)


def _ahead(cache: apsw.Connection, shift: Shift, numbers: list[str]) -> list[Key]:
    """Keys of those of these orders that are in the list, in the order in which they are named."""
    rows = fetch(
        cache,
        "SELECT o.pickup, o.sort, o.order_number FROM json_each(?) e JOIN orders o ON o.order_number = e.value"
        " WHERE o.state = 0",
        to_text(numbers),
    )
    known = {number: (pickup, sort, number) for pickup, sort, number in rows if number not in shift[0]}
    known |= {key[2]: key for key in shift[1]}
    return [known[number] for number in numbers if number in known]


def _window(cache: apsw.Connection, shift: Shift, first: int, size: int) -> list[Key]:
    """Keys of the window: the list of the cache without the hidden orders, the extra ones put where they belong."""
    hidden, extra = to_text(list(shift[0])), shift[1]
    places = []
    for index, key in enumerate(extra):
        before = fetch(
            cache,
            "SELECT count(*) FROM orders WHERE state = 0 AND (pickup, sort, order_number) < (?, ?, ?)"
            " AND order_number NOT IN (SELECT value FROM json_each(?))",
            *key,
            hidden,
        )
        places.append(int(before[0][0]) + index)
    passed, inside = bisect_left(places, first), bisect_left(places, first + size)
    keys = fetch(
        cache,
        "SELECT pickup, sort, order_number FROM orders"
        " WHERE state = 0 AND order_number NOT IN (SELECT value FROM json_each(?))"
        " ORDER BY pickup, sort, order_number LIMIT ? OFFSET ?",
        hidden,
        size - (inside - passed),
        first - passed,
    )
    return sorted([(pickup, sort, number) for pickup, sort, number in keys] + extra[passed:inside])


def _matching(
    cache: apsw.Connection, pending: Pending, shift: Shift, words: list[str], product: str, ahead: list[str]
) -> list[Key]:
    """Keys of all open orders with an open line of this product, or of those with these words: where there are many,
    the first of the list, and those `ahead`."""
    if product:
        rows = fetch(
            cache,
            "SELECT DISTINCT o.pickup, o.sort, o.order_number, o.text FROM line l"
            " JOIN orders o ON o.order_number = l.order_number WHERE l.product_number = ? AND o.state = 0",
            product,
        )
    else:
        rows = _worded(cache, shift, words)
        rows += fetch(cache, f"{_NAMED} AND state = 0", to_text(ahead)) if ahead else []
    rows += fetch(cache, _NAMED, to_text([number for _, _, number in shift[1]]))
    keys = {
        (pickup, sort, number)
        for pickup, sort, number, text in rows
        if number not in shift[0] and all(word in text for word in words)
    }
    return [key for key in sorted(keys) if not product or _wants(cache, pending, key[2], product)]


_KEYS = "SELECT pickup, sort, order_number, text FROM orders"
_NAMED = f"{_KEYS} WHERE order_number IN (SELECT value FROM json_each(?))"  # noqa: S608 - names of our own

_BY_PARTS = """
SELECT pickup, sort, order_number, text, state FROM orders
WHERE id IN (SELECT rowid FROM order_search WHERE order_search MATCH ? LIMIT ?)
"""


def _worded(cache: apsw.Connection, shift: Shift, words: list[str]) -> list[tuple[Any, ...]]:
    """Open orders with these words: all of them, or the first of the list where there are more than `MOST`."""
    having = " AND ".join("instr(text, ?)" for _ in words)
    parts = " AND ".join(f'"{word}"*' for word in words if len(word) >= SHORTEST)
    listed = f"{_KEYS} WHERE state = 0"
    order = "ORDER BY pickup, sort, order_number LIMIT ?"
    glance = f"SELECT count(*) FROM (SELECT text FROM orders WHERE state = 0 {order}) WHERE {having}"  # noqa: S608
    if parts and fetch(cache, glance, GLANCE, *words)[0][0] < OFTEN:
        found = fetch(cache, _BY_PARTS, parts, RARE)
        if len(found) < RARE:
            return [row[:4] for row in found if row[4] == OPEN]
    hidden = "order_number NOT IN (SELECT value FROM json_each(?))"
    return fetch(cache, f"{listed} AND {having} AND {hidden} {order}", *words, to_text(list(shift[0])), MOST + 1)


def _wants(cache: apsw.Connection, pending: Pending, number: str, product: str) -> bool:
    """True when the order still has an open line of this product."""
    lines = lines_of(cache, number, product)
    header: Row = {"order_number": number}
    lay_over(header, lines, pending.get(number, ()), None)
    return any(not is_full(line) for line in lines)


def holders(cache: apsw.Connection, pending: Pending, laid: Known, args: Mapping[str, Json]) -> Result:
    """Orders with this product that are not closed, those that still need some of it first; by pickup date.

    Each with what it still needs of it and what it holds: `needed`, `held`.
    """
    product = str(args["product_number"])
    known = fetch(
        cache,
        "SELECT DISTINCT o.pickup, o.sort, o.order_number FROM line l"
        " JOIN orders o ON o.order_number = l.order_number WHERE l.product_number = ? AND o.state < 2",
        product,
    )
    rows = [row for *_, number in sorted(known) if (row := _holder(cache, pending, laid, number, product))]
    rows.sort(key=lambda row: row["needed"] <= 0)
    first, size = window(args, SIZE)
    return rows[first : first + size], len(rows)


def _holder(cache: apsw.Connection, pending: Pending, laid: Known, number: str, product: str) -> Row | None:
    row = order_row(cache, pending, number, laid)
    if row is None or not row["is_active"] or row["is_rejected"]:
        return None
    lines = lines_of(cache, number, product)
    if number in pending:
        mine = {line["line_number"] for line in lines}
        lines = [line for line in laid_lines(cache, pending, number, laid) if line["line_number"] in mine]
    wanted = (decimal(line.get("quantity")) - decimal(line.get("picked_quantity")) for line in lines)
    needed = (rest for line, rest in zip(lines, wanted, strict=True) if not is_full(line))
    return {
        "order_number": number,
        "customer_name": str(row.get("customer_name") or row.get("reference") or ""),
        "pickup_date": row["pickup_date"],
        "needed": sum(needed, Decimal(0)),
        "held": sum((decimal(line.get("picked_quantity")) for line in lines), Decimal(0)),
    }


def _rows(cache: apsw.Connection, pending: Pending, laid: Known, keys: Iterable[Key]) -> list[Row]:
    rows = (order_row(cache, pending, number, laid) for _, _, number in keys)
    return with_pieces(cache, pending, [row for row in rows if row is not None], laid)


_MEASURED = """
SELECT l.order_number, l.product_number FROM json_each(?) e JOIN line l ON l.order_number = e.value
JOIN product p ON p.product_number = l.product_number WHERE p.allow_decimal
"""

_PIECES = """
SELECT l.order_number, sum(CASE WHEN p.allow_decimal THEN 1 ELSE l.raw ->> 'quantity' END),
  sum(CASE WHEN NOT ifnull(p.allow_decimal, 0) THEN l.raw ->> 'picked_quantity' ELSE l.raw ->> 'picked_quantity' > 0
    AND (ifnull(l.raw ->> 'is_picked', 0) IN (1, 'true') OR l.raw ->> 'picked_quantity' >= l.raw ->> 'quantity') END)
FROM json_each(?) e JOIN line l ON l.order_number = e.value
LEFT JOIN product p ON p.product_number = l.product_number GROUP BY l.order_number
"""
"""As `_pieces` counts the lines of orders of which nothing is on its way."""


def with_pieces(cache: apsw.Connection, pending: Pending, rows: list[Row], laid: Known) -> list[Row]:
    """Orders with measured goods, whose quantities have no sum, with how many `pieces` they are of and how many of
    these are picked (`picked_pieces`): a measured line is one, as where it is picked."""
    by_number = {str(row["order_number"]): row for row in rows}
    measured: dict[str, set[str]] = {}
    for number, product in fetch(cache, _MEASURED, to_text(list(by_number))):
        measured.setdefault(number, set()).add(product)
    settled = [number for number in measured if number not in pending]
    for number, of, picked in fetch(cache, _PIECES, to_text(settled)) if settled else ():
        by_number[number].update(picked_pieces=decimal(picked), pieces=decimal(of))
    for number in measured.keys() - set(settled):
        lines = laid_lines(cache, pending, number, laid)
        counted = (_pieces(line, measured=line.get("product_number") in measured[number]) for line in lines)
        by_number[number].update(_in_pieces(counted))
    return rows


def _in_pieces(lines: Iterable[tuple[Decimal, Decimal]]) -> Row:
    counted = list(lines)
    picked, of = (sum((line[at] for line in counted), Decimal(0)) for at in (0, 1))
    return {"picked_pieces": picked, "pieces": of}


def _pieces(line: Row, *, measured: bool) -> tuple[Decimal, Decimal]:
    """(picked, ordered) of a line."""
    picked = decimal(line.get("picked_quantity"))
    return (Decimal(picked > 0 and is_full(line)), Decimal(1)) if measured else (picked, decimal(line.get("quantity")))


def order(cache: apsw.Connection, pending: Pending, number: str) -> Result:
    """One order with its lines, each with its product's unit, the places where it lies, where it is kept, and
    whether stock is kept of it at all: by the store, else by the catalogue. `unsure` while something of this host may
    be in what was read, and nobody has said so: then its figures may be off until it is read again. `moved_by`: by
    user of this host, the number of his last movement or rejection of lines of it that is not in what was read."""
    found = fetch_one(cache, "SELECT raw, lines_began, pickup FROM orders WHERE order_number = ?", number)
    if found is None:
        return [], 0
    raw, began, pickup = found
    row = header_of(raw, number, pickup)
    lines = _whole_lines(cache, number) if began is not None else []
    lay_over(row, lines, pending.get(number, ()), began)
    picked = sum((decimal(line.get("picked_quantity")) for line in lines), Decimal(0)) if lines else None
    row.update(lines=lines, lines_known=began is not None, picked_quantity=progress(row, picked))
    row["moved_by"] = _moved_by(pending.get(number, ()), began)
    row["unsure"] = any(may_be_in(each, began) for each in pending.get(number, ()))
    if any(line.get("allow_decimal") for line in lines):
        row.update(_in_pieces(_pieces(line, measured=bool(line.get("allow_decimal"))) for line in lines))
    return [row], 1


def _moved_by(pending: Iterable[Operation], began: float | None) -> dict[str, Json]:
    """The last operation on an order by user, other than what was picked."""
    others = (each for each in pending if each.operation != UPDATE and not is_in(each, began))
    return {each.app_user: each.n for each in sorted(others, key=lambda each: each.n)}


def _whole_lines(cache: apsw.Connection, number: str) -> list[Row]:
    rows = fetch(
        cache,
        "SELECT l.line_number, l.product_number, l.raw, p.name, p.unit, p.allow_decimal, s.raw,"
        " ifnull(s.raw ->> 'is_stock', CASE WHEN p.raw <> '' THEN p.raw ->> 'is_stock' END) FROM line l"
        " LEFT JOIN product p ON p.product_number = l.product_number LEFT JOIN stock s ON s.id = p.id"
        " WHERE l.order_number = ? ORDER BY l.line_number",
        number,
    )
    lines = [_whole_line(*row) for row in rows]
    walk = location_orders(cache, {place["location_code"] for line in lines for place in line["places"]})
    for line in lines:
        line["places"] = walked(line["places"], walk)
    return lines


def _whole_line(
    line_number: int,
    product: str,
    raw: str,
    name: str | None,
    unit: str | None,
    decimals: int | None,
    stock: str | None,
    is_stock: int | str | None,
) -> Row:
    line = loaded(raw)
    places = line_places(line) or (stock_places(loaded(stock)) if stock else [])
    kept = kept_places(line)
    line.pop("store_locations", None)
    line.update(
        line_number=line_number,
        product_number=product,
        description=line.get("description") or name or "",
        quantity=decimal(line.get("quantity")),
        picked_quantity=decimal(line.get("picked_quantity")),
        moved_quantity=decimal(line.get("moved_quantity")),
        is_picked=bool(line.get("is_picked")),
        places=places,
        kept=kept,
        allow_decimal=bool(decimals),
        unit=unit or "",
        is_stock=is_stock not in (0, "false"),
    )
    for optional in (
        "price",
        "stock_pool",
        "picking_stock_pool_array",
        "store_walking_order",
        "preferred_location_code",
    ):
        line.setdefault(optional, None)
    return line
