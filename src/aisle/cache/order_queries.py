"""Orders as a session sees them: the cache with the outbox laid over it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import apsw

from aisle.cache.order_overlay import Row, apply_to_order, is_included, is_line_complete, may_be_included, to_decimal
from aisle.cache.overlaid_order import (
    OverlaidOrders,
    PendingByOrder,
    load_lines,
    load_order_header,
    overlaid_lines,
    parse_header,
    picked_quantity,
)
from aisle.cache.row_values import (
    QueryResult,
    WindowRows,
    held_locations,
    line_locations,
    load_walk_orders,
    parse_row,
    sort_by_walk_order,
    stock_locations,
    window_bounds,
)
from aisle.cache.schema import MIN_SEARCH_PART, ORDER_OPEN
from aisle.cache.stock_overlay import PendingByProduct, apply_to_stock
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Json
from aisle.jobs.pages import MAX_COUNTED
from aisle.json_codec import to_text
from aisle.outbox.operation_record import UPDATE_ORDER, Operation
from aisle.search_text import normalise_text

SortKey = tuple[str, str, str]
"""(pickup, sort, order_number): what the list is sorted by."""

ListChange = tuple[frozenset[str], list[SortKey]]
"""How pending operations change the list: orders that leave it, and keys of those that come into it, in its order."""

DEFAULT_SIZE = 50
"""Rows of a window when nobody says how many."""

MAX_HITS = MAX_COUNTED
"""Orders with some words that are counted; whoever gets as many types another letter."""

SAMPLE_ORDERS, SAMPLE_HITS = 200, 10
"""Of so many orders at the beginning of the list, so many with the words: the list itself has enough of them soon."""

MAX_INDEX_HITS = 500
"""More orders than this, by their index, are not looked through: the list has them sooner."""


def open_orders(
    cache: apsw.Connection,
    pending: PendingByOrder,
    overlaid: OverlaidOrders,
    list_change: ListChange,
    args: Mapping[str, Json],
) -> WindowRows:
    """A window on the open orders: those named `ahead`, then by pickup date and number. `laid`: orders that were laid
    over before."""
    first, size = window_bounds(args, DEFAULT_SIZE)
    search, product = normalise_text(str(args.get("search") or "")), str(args.get("product_number") or "")
    ahead = {number: rank for rank, number in enumerate(args.get("ahead") or ())}
    if search or product:
        keys = _matching_keys(cache, pending, list_change, search.split(), product, list(ahead))
        keys.sort(key=lambda key: ahead.get(key[2], len(ahead)))
        partly = not product and len(keys) > MAX_HITS
        keys = keys[:MAX_HITS] if partly else keys
        return WindowRows(_load_headers(cache, pending, overlaid, keys[first : first + size]), len(keys), partly)
    total = (
        fetch(cache, "SELECT n FROM tally WHERE state = ?", ORDER_OPEN)[0][0]
        - len(list_change[0])
        + len(list_change[1])
    )
    before = _keys_ahead(cache, list_change, list(ahead)) if ahead else []
    keys = before[first : first + size]
    list_change = (
        (list_change[0].union(ahead), [key for key in list_change[1] if key[2] not in ahead]) if ahead else list_change
    )
    rest = _window_keys(cache, list_change, max(0, first - len(before)), size - len(keys))
    return WindowRows(_load_headers(cache, pending, overlaid, [*keys, *rest]), total)


def _keys_ahead(cache: apsw.Connection, list_change: ListChange, numbers: list[str]) -> list[SortKey]:
    """Keys of those of these orders that are in the list, in the order in which they are named."""
    rows = fetch(
        cache,
        "SELECT o.pickup, o.sort, o.order_number FROM json_each(?) e JOIN orders o ON o.order_number = e.value"
        " WHERE o.state = 0",
        to_text(numbers),
    )
    known = {number: (pickup, sort, number) for pickup, sort, number in rows if number not in list_change[0]}
    known |= {key[2]: key for key in list_change[1]}
    return [known[number] for number in numbers if number in known]


def _window_keys(cache: apsw.Connection, list_change: ListChange, first: int, size: int) -> list[SortKey]:
    """Keys of the window: the list of the cache without the hidden orders, the extra ones put where they belong."""
    hidden, extra = to_text(list(list_change[0])), list_change[1]
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


def _matching_keys(
    cache: apsw.Connection,
    pending: PendingByOrder,
    list_change: ListChange,
    words: list[str],
    product: str,
    ahead: list[str],
) -> list[SortKey]:
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
        rows = _orders_with_words(cache, list_change, words)
        rows += fetch(cache, f"{_KEYS_OF_ORDERS} AND state = 0", to_text(ahead)) if ahead else []
    rows += fetch(cache, _KEYS_OF_ORDERS, to_text([number for _, _, number in list_change[1]]))
    keys = {
        (pickup, sort, number)
        for pickup, sort, number, text in rows
        if number not in list_change[0] and all(word in text for word in words)
    }
    return [key for key in sorted(keys) if not product or _needs_product(cache, pending, key[2], product)]


_KEYS_SQL = "SELECT pickup, sort, order_number, text FROM orders"
_KEYS_OF_ORDERS = f"{_KEYS_SQL} WHERE order_number IN (SELECT value FROM json_each(?))"  # noqa: S608 - names of our own

_KEYS_BY_SEARCH = """
SELECT pickup, sort, order_number, text, state FROM orders
WHERE id IN (SELECT rowid FROM order_search WHERE order_search MATCH ? LIMIT ?)
"""


def _orders_with_words(cache: apsw.Connection, list_change: ListChange, words: list[str]) -> list[tuple[Any, ...]]:
    """Open orders with these words: all of them, or the first of the list where there are more than `MOST`."""
    having = " AND ".join("instr(text, ?)" for _ in words)
    parts = " AND ".join(f'"{word}"*' for word in words if len(word) >= MIN_SEARCH_PART)
    listed = f"{_KEYS_SQL} WHERE state = 0"
    order = "ORDER BY pickup, sort, order_number LIMIT ?"
    glance = f"SELECT count(*) FROM (SELECT text FROM orders WHERE state = 0 {order}) WHERE {having}"  # noqa: S608
    if parts and fetch(cache, glance, SAMPLE_ORDERS, *words)[0][0] < SAMPLE_HITS:
        found = fetch(cache, _KEYS_BY_SEARCH, parts, MAX_INDEX_HITS)
        if len(found) < MAX_INDEX_HITS:
            return [row[:4] for row in found if row[4] == ORDER_OPEN]
    hidden = "order_number NOT IN (SELECT value FROM json_each(?))"
    return fetch(
        cache, f"{listed} AND {having} AND {hidden} {order}", *words, to_text(list(list_change[0])), MAX_HITS + 1
    )


def _needs_product(cache: apsw.Connection, pending: PendingByOrder, number: str, product: str) -> bool:
    """True when the order still has an open line of this product."""
    lines = load_lines(cache, number, product)
    header: Row = {"order_number": number}
    apply_to_order(header, lines, pending.get(number, ()), None)
    return any(not is_line_complete(line) for line in lines)


def orders_with_product(
    cache: apsw.Connection, pending: PendingByOrder, overlaid: OverlaidOrders, args: Mapping[str, Json]
) -> QueryResult:
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
    rows = [
        row for *_, number in sorted(known) if (row := _order_with_product(cache, pending, overlaid, number, product))
    ]
    rows.sort(key=lambda row: row["needed"] <= 0)
    first, size = window_bounds(args, DEFAULT_SIZE)
    return rows[first : first + size], len(rows)


def _order_with_product(
    cache: apsw.Connection, pending: PendingByOrder, overlaid: OverlaidOrders, number: str, product: str
) -> Row | None:
    row = load_order_header(cache, pending, number, overlaid)
    if row is None or not row["is_active"] or row["is_rejected"]:
        return None
    lines = load_lines(cache, number, product)
    if number in pending:
        mine = {line["line_number"] for line in lines}
        lines = [line for line in overlaid_lines(cache, pending, number, overlaid) if line["line_number"] in mine]
    wanted = (to_decimal(line.get("quantity")) - to_decimal(line.get("picked_quantity")) for line in lines)
    needed = (rest for line, rest in zip(lines, wanted, strict=True) if not is_line_complete(line))
    return {
        "order_number": number,
        "customer_name": str(row.get("customer_name") or row.get("reference") or ""),
        "pickup_date": row["pickup_date"],
        "needed": sum(needed, Decimal(0)),
        "held": sum((to_decimal(line.get("picked_quantity")) for line in lines), Decimal(0)),
    }


def _load_headers(
    cache: apsw.Connection, pending: PendingByOrder, overlaid: OverlaidOrders, keys: Iterable[SortKey]
) -> list[Row]:
    rows = (load_order_header(cache, pending, number, overlaid) for _, _, number in keys)
    return add_pieces(cache, pending, [row for row in rows if row is not None], overlaid)


_MEASURED_LINES = """
SELECT l.order_number, l.product_number FROM json_each(?) e JOIN line l ON l.order_number = e.value
JOIN product p ON p.product_number = l.product_number WHERE p.allow_decimal
"""

_COUNT_PIECES = """
SELECT l.order_number, sum(CASE WHEN p.allow_decimal THEN 1 ELSE l.raw ->> 'quantity' END),
  sum(CASE WHEN NOT ifnull(p.allow_decimal, 0) THEN l.raw ->> 'picked_quantity' ELSE l.raw ->> 'picked_quantity' > 0
    AND (ifnull(l.raw ->> 'is_picked', 0) IN (1, 'true') OR l.raw ->> 'picked_quantity' >= l.raw ->> 'quantity') END)
FROM json_each(?) e JOIN line l ON l.order_number = e.value
LEFT JOIN product p ON p.product_number = l.product_number GROUP BY l.order_number
"""
"""As `_pieces` counts the lines of orders of which nothing is on its way."""


def add_pieces(cache: apsw.Connection, pending: PendingByOrder, rows: list[Row], overlaid: OverlaidOrders) -> list[Row]:
    """Orders with measured goods, whose quantities have no sum, with how many `pieces` they are of and how many of
    these are picked (`picked_pieces`): a measured line is one, as where it is picked."""
    by_number = {str(row["order_number"]): row for row in rows}
    measured: dict[str, set[str]] = {}
    for number, product in fetch(cache, _MEASURED_LINES, to_text(list(by_number))):
        measured.setdefault(number, set()).add(product)
    settled = [number for number in measured if number not in pending]
    for number, of, picked in fetch(cache, _COUNT_PIECES, to_text(settled)) if settled else ():
        by_number[number].update(picked_pieces=to_decimal(picked), pieces=to_decimal(of))
    for number in measured.keys() - set(settled):
        lines = overlaid_lines(cache, pending, number, overlaid)
        counted = (
            _count_line_pieces(line, is_measured=line.get("product_number") in measured[number]) for line in lines
        )
        by_number[number].update(_sum_pieces(counted))
    return rows


def _sum_pieces(lines: Iterable[tuple[Decimal, Decimal]]) -> Row:
    counted = list(lines)
    picked, of = (sum((line[at] for line in counted), Decimal(0)) for at in (0, 1))
    return {"picked_pieces": picked, "pieces": of}


def _count_line_pieces(line: Row, *, is_measured: bool) -> tuple[Decimal, Decimal]:
    """(picked, ordered) of a line."""
    picked = to_decimal(line.get("picked_quantity"))
    return (
        (Decimal(picked > 0 and is_line_complete(line)), Decimal(1))
        if is_measured
        else (picked, to_decimal(line.get("quantity")))
    )


def load_order(cache: apsw.Connection, pending: PendingByOrder, number: str) -> QueryResult:
    """One order with its lines, each with its product's unit, the places where it lies, where it is kept, and
    whether stock is kept of it at all: by the store, else by the catalogue. `unsure` while something of this host may
    be in what was read, and nobody has said so: then its figures may be off until it is read again. `moved_by`: by
    user of this host, the number of his last movement or rejection of lines of it that is not in what was read."""
    found = fetch_one(cache, "SELECT raw, lines_began, pickup FROM orders WHERE order_number = ?", number)
    if found is None:
        return [], 0
    raw, began, pickup = found
    row = parse_header(raw, number, pickup)
    lines = _load_full_lines(cache, number) if began is not None else []
    apply_to_order(row, lines, pending.get(number, ()), began)
    picked = sum((to_decimal(line.get("picked_quantity")) for line in lines), Decimal(0)) if lines else None
    row.update(lines=lines, lines_known=began is not None, picked_quantity=picked_quantity(row, picked))
    row["moved_by"] = _last_move_by_user(pending.get(number, ()), began)
    row["unsure"] = any(may_be_included(each, began) for each in pending.get(number, ()))
    if any(line.get("allow_decimal") for line in lines):
        row.update(_sum_pieces(_count_line_pieces(line, is_measured=bool(line.get("allow_decimal"))) for line in lines))
    return [row], 1


def _last_move_by_user(pending: Iterable[Operation], read_began: float | None) -> dict[str, Json]:
    """The last operation on an order by user, other than what was picked."""
    others = (each for each in pending if each.operation != UPDATE_ORDER and not is_included(each, read_began))
    return {each.app_user: each.n for each in sorted(others, key=lambda each: each.n)}


def _load_full_lines(cache: apsw.Connection, number: str) -> list[Row]:
    rows = fetch(
        cache,
        "SELECT l.line_number, l.product_number, l.raw, p.name, p.unit, p.allow_decimal, s.raw,"
        " ifnull(s.raw ->> 'is_stock', CASE WHEN p.raw <> '' THEN p.raw ->> 'is_stock' END) FROM line l"
        " LEFT JOIN product p ON p.product_number = l.product_number LEFT JOIN stock s ON s.id = p.id"
        " WHERE l.order_number = ? ORDER BY l.line_number",
        number,
    )
    lines = [_full_line(*row) for row in rows]
    walk = load_walk_orders(cache, {place["location_code"] for line in lines for place in line["places"]})
    for line in lines:
        line["places"] = sort_by_walk_order(line["places"], walk)
    return lines


def _full_line(
    line_number: int,
    product: str,
    raw: str,
    name: str | None,
    unit: str | None,
    decimals: int | None,
    stock: str | None,
    is_stock: int | str | None,
) -> Row:
    line = parse_row(raw)
    places = line_locations(line) or (stock_locations(parse_row(stock)) if stock else [])
    kept = held_locations(line)
    line.pop("store_locations", None)
    line.update(
        line_number=line_number,
        product_number=product,
        description=line.get("description") or name or "",
        quantity=to_decimal(line.get("quantity")),
        picked_quantity=to_decimal(line.get("picked_quantity")),
        moved_quantity=to_decimal(line.get("moved_quantity")),
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


_STOCK_OF_PRODUCTS = """
SELECT p.product_number, s.raw, s.began FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN stock s ON s.id = p.id
"""
_LOCATIONS_MARK = '"store_locations"'
"""Stands in every stock entry that tells of places."""


def add_stock_at_locations(cache: apsw.Connection, pending: PendingByProduct, orders: Iterable[Row]) -> None:
    """Adds to each line its `stock`: what lies of its product at each place, by code. None where nobody says, and for
    what comes from the warehouse, whose stock is not here."""
    lines = [line for order in orders for line in order["lines"]]
    own = [line for line in lines if not _is_from_warehouse(line)]
    numbers = sorted({str(line["product_number"]) for line in own})
    read = ((str(number), raw, began) for number, raw, began in _read_stock(cache, numbers) if _LOCATIONS_MARK in raw)
    found = {number: _stock_by_location(number, raw, began, pending) for number, raw, began in read}
    for line in lines:
        line["stock"] = {}
    for line in own:
        line["stock"] = _with_own_location(line, found.get(str(line["product_number"])))


def _with_own_location(line: Row, stock: dict[str, Decimal | None] | None) -> dict[str, Decimal]:
    """With none at the place of the line where the store tells of places: one that is empty is in no list of them.
    Places whose quantity nobody said are left out."""
    place = str(line.get("preferred_location_code") or line.get("stock_location") or "")
    if stock is None:
        return {}
    known: dict[str, Decimal | None] = {**({place: Decimal(0)} if place else {}), **stock}
    return {code: quantity for code, quantity in known.items() if quantity is not None}


def _is_from_warehouse(line: Row) -> bool:
    beside = line.get("aisle")
    told = (line, beside if isinstance(beside, dict) else {})
    return any(each.get("is_picked_from_warehouse") in (True, "true") for each in told)


def _read_stock(cache: apsw.Connection, numbers: list[str]) -> list[tuple[str, str, float | None]]:
    return fetch(cache, _STOCK_OF_PRODUCTS, to_text(numbers)) if numbers else []


def _stock_by_location(
    number: str, raw: str, read_began: float | None, pending: PendingByProduct
) -> dict[str, Decimal | None] | None:
    """What lies at each place; None where a place has no code, for any place may be that one."""
    entry = parse_row(raw)
    if not all(place.get("store_location_code") for place in entry.get("store_locations") or ()):
        return None
    stock = apply_to_stock(entry, number, pending.get(number, ()), read_began)
    return {str(place["location_code"]): _location_quantity(place) for place in stock_locations(stock)}


def _location_quantity(place: Row) -> Decimal | None:
    return None if place.get("quantity") is None else to_decimal(place["quantity"])
