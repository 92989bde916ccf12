"""The chain's catalogue as a person browses it: by number, by words, by category, supplier and what few products are.

interface: Product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.cache.rows import MARKS
from aisle.local.db import fetch
from aisle.local.reads.goods import MOST, search, within
from aisle.local.reads.overlay import Row
from aisle.local.reads.rows import Found, Result, loaded, window
from aisle.words import fold, kept

SIZE = 20
"""Rows of a window when nobody says how many."""

KIN = 100
"""Variants of a product, and parts of a set, that are shown."""

SHOWS = {"promotion": "is_promotion", "set": "is_set", "ended": "is_active", "by_hand": "is_order_manually"}
"""What the list shows beside all: a flag of the product."""

FACETS = {"category": "category", "supplier": "supplier"}
"""What products are gathered by."""

_FIELDS = "p.product_number, p.name, p.brand, p.category, p.marks, p.raw <> '', s.quantity"
_FROM = "FROM product p LEFT JOIN stock s ON s.id = p.id"
_NAMES = {
    "category": "SELECT s.raw ->> 'category_name' FROM product p JOIN stock s ON s.id = p.id"
    " WHERE p.category <> '' AND p.category = ? ORDER BY p.product_number LIMIT 1",
    "supplier": "SELECT p.raw ->> 'supplier_name' FROM product p"
    " WHERE p.supplier <> '' AND p.supplier = ? ORDER BY p.product_number LIMIT 1",
}
"""The name that a product of it gives it; of a category only the stock list has one."""


def catalogue(cache: apsw.Connection, args: Mapping[str, Json]) -> Found:
    """A window on the products: with words to `search` the best first, a hundred of all that is shown at most; else by
    number.

    `show`: all, or one of `SHOWS`; `category` and `supplier`: one of them; `among`: only products of these numbers.
    """
    first, size = window(args, SIZE)
    where, said = _conditions(args)
    if not fold(str(args.get("search") or "")).split():
        ((total,),) = fetch(cache, f"SELECT count(*) FROM product p{where}", *said)  # noqa: S608
        return Found([_listed(*row) for row in _window(cache, where, said, first, size, int(total))], int(total))
    hits, count, partly = search(cache, {"search": args["search"], "size": MOST})
    numbers = [str(hit["product_number"]) for hit in hits]
    if where and (partly or count >= MOST):  # the others may be those that are shown
        numbers, partly = within(cache, str(args["search"]), where, said)
    among = f"{where or ' WHERE 1'} AND p.product_number IN (SELECT value FROM json_each(?))"  # noqa: S608
    found = {row[0]: row for row in fetch(cache, f"SELECT {_FIELDS} {_FROM}{among}", *said, to_text(numbers))}
    ranked = [_listed(*found[number]) for number in numbers if number in found]
    return Found(ranked[first : first + size], len(ranked), partly)


def _window(
    cache: apsw.Connection, where: str, said: list[Any], first: int, size: int, total: int
) -> list[tuple[Any, ...]]:
    """The rows of a window by number, stepped to from the nearer end."""
    behind = total - first - size
    from_end = behind < first
    skip, count = (max(0, behind), min(size, total - first)) if from_end else (first, size)
    if count <= 0:
        return []
    way = "DESC" if from_end else "ASC"
    sql = f"SELECT {_FIELDS} {_FROM}{where} ORDER BY p.product_number {way} LIMIT ? OFFSET ?"
    rows = fetch(cache, sql, *said, count, skip)
    return rows[::-1] if from_end else rows


def _conditions(args: Mapping[str, Json]) -> tuple[str, list[Any]]:
    """As SQL, with what stands in it; each has an index that begins with it, or has few products in it."""
    where, said = [], []
    for name in FACETS:
        if args.get(name):
            where.append(f"p.{name} <> '' AND p.{name} = ?")
            said.append(str(args[name]))
    if args.get("among"):
        where.append("p.product_number IN (SELECT value FROM json_each(?))")
        said.append(to_text(args["among"]))
    show = SHOWS.get(str(args.get("show") or ""))
    if show:
        where.append(f"p.marks <> 0 AND p.marks & {MARKS[show][0]}")
    return (f" WHERE {' AND '.join(where)}" if where else ""), said


def _listed(number: str, name: str, brand: str, category: str, marks: int, known: int, quantity: Json) -> Row:
    flags = {show: bool(marks & MARKS[flag][0]) for show, flag in SHOWS.items()}
    return {
        "product_number": number,
        "product_name": name,
        "brand_description": brand,
        "category_code": category,
        "in_catalogue": bool(known),
        "in_store": quantity is not None,
        **flags,
    }


def facets(cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """A window on the categories or suppliers (`kind`) that products have, the most products first: `code`, `name`
    where it is known, `count`. `search` words in code or name."""
    column = FACETS[str(args["kind"])]
    first, size = window(args, SIZE)
    counted = fetch(cache, "SELECT code, n FROM facet WHERE kind = ? AND n > 0 ORDER BY n DESC, code", column)
    words = fold(str(args.get("search") or "")).split()
    names: dict[str, str] = {}
    if words:
        names = {str(code): _name(cache, column, str(code)) for code, _ in counted}
        counted = [row for row in counted if all(word in kept(f"{row[0]} {names[str(row[0])]}") for word in words)]
    shown = counted[first : first + size]
    rows: list[Row] = [
        {"code": str(code), "name": names.get(str(code)) or _name(cache, column, str(code)), "count": int(count)}
        for code, count in shown
    ]
    return rows, len(counted)


def _name(cache: apsw.Connection, column: str, code: str) -> str:
    rows = fetch(cache, _NAMES[column], code)
    return str(rows[0][0] or "") if rows else ""


def catalogue_page(
    cache: apsw.Connection, product: Callable[[Mapping[str, Json]], Result], args: Mapping[str, Json]
) -> Result:
    """One product (`product_number`): the row of the read `product`, what the `catalogue` says of it, the `variants` of
    its family, and the `parts` of a set with their names."""
    rows, _ = product(args)
    if not rows:
        return [], 0
    row, number = rows[0], str(args["product_number"])
    family = str(row.get("variant_family") or "")
    own = fetch(cache, "SELECT raw FROM product WHERE product_number = ?", number)
    catalogue_row = loaded(own[0][0]) if own and own[0][0] else {}
    kin = fetch(
        cache,
        "SELECT p.product_number, p.name, p.raw FROM product p WHERE p.family <> '' AND p.family = ?"
        " ORDER BY p.product_number LIMIT ?",
        family,
        KIN,
    )
    parts = catalogue_row.get("set_product")
    return [
        {
            **row,
            "catalogue": catalogue_row,
            "variants": [_variant(str(each), str(name), raw) for each, name, raw in kin if str(each) != number],
            "parts": _parts(cache, parts if isinstance(parts, list) else []),
        }
    ], 1


def _variant(number: str, name: str, raw: str) -> Row:
    said = loaded(raw) if raw else {}
    return {
        "product_number": number,
        "product_name": name,
        "color": said.get("color") or said.get("color_code"),
        "size": said.get("size") or said.get("size_code"),
        "factor": said.get("variant_factor"),
    }


def _parts(cache: apsw.Connection, parts: list[Any]) -> list[Row]:
    said = [part for part in parts[:KIN] if isinstance(part, dict)]
    numbers = [str(part.get("set_product_number") or "") for part in said]
    names = dict(
        fetch(
            cache,
            "SELECT p.product_number, p.name FROM json_each(?) e JOIN product p ON p.product_number = e.value",
            to_text(numbers),
        )
    )
    return [
        {
            "product_number": number,
            "product_name": str(names.get(number) or ""),
            "quantity": str(part.get("set_item_quantity") or ""),
        }
        for number, part in zip(numbers, said, strict=True)
    ]
