"""The chain's catalogue as a person browses it: by number, by words, by category, supplier and what few products are.

interface: Product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import apsw

from aisle.cache.field_parsing import FLAG_BITS
from aisle.cache.order_overlay import Row
from aisle.cache.product_search import MAX_HITS, search_products, search_within
from aisle.cache.row_values import QueryResult, WindowRows, parse_row, window_bounds
from aisle.host.database import fetch
from aisle.jobs.job import Json
from aisle.json_codec import to_text
from aisle.search_text import index_text, normalise_text

DEFAULT_SIZE = 20
"""Rows of a window when nobody says how many."""

MAX_RELATED = 100
"""Variants of a product, and parts of a set, that are shown."""

FLAG_FILTERS = {"promotion": "is_promotion", "set": "is_set", "ended": "is_active", "by_hand": "is_order_manually"}
"""What the list shows beside all: a flag of the product."""

FACET_COLUMNS = {"category": "category", "supplier": "supplier"}
"""What products are gathered by."""

_LIST_COLUMNS = "p.product_number, p.name, p.brand, p.category, p.marks, p.raw <> '', s.quantity"
_LIST_TABLES = "FROM product p LEFT JOIN stock s ON s.id = p.id"
_FACET_NAMES = {
    "category": "SELECT s.raw ->> 'category_name' FROM product p JOIN stock s ON s.id = p.id"
    " WHERE p.category <> '' AND p.category = ? ORDER BY p.product_number LIMIT 1",
    "supplier": "SELECT p.raw ->> 'supplier_name' FROM product p"
    " WHERE p.supplier <> '' AND p.supplier = ? ORDER BY p.product_number LIMIT 1",
}
"""The name that a product of it gives it; of a category only the stock list has one."""


def list_catalogue(cache: apsw.Connection, args: Mapping[str, Json]) -> WindowRows:
    """A window on the products: with words to `search` the best first, a hundred of all that is shown at most; else by
    number.

    `show`: all, or one of `SHOWS`; `category` and `supplier`: one of them; `among`: only products of these numbers.
    """
    first, size = window_bounds(args, DEFAULT_SIZE)
    where, said = _sql_conditions(args)
    if not normalise_text(str(args.get("search") or "")).split():
        ((total,),) = fetch(cache, f"SELECT count(*) FROM product p{where}", *said)  # noqa: S608
        return WindowRows(
            [_catalogue_row(*row) for row in _window(cache, where, said, first, size, int(total))], int(total)
        )
    hits, count, partly = search_products(cache, {"search": args["search"], "size": MAX_HITS})
    numbers = [str(hit["product_number"]) for hit in hits]
    if where and (partly or count >= MAX_HITS):  # the others may be those that are shown
        numbers, partly = search_within(cache, str(args["search"]), where, said)
    among = f"{where or ' WHERE 1'} AND p.product_number IN (SELECT value FROM json_each(?))"  # noqa: S608
    found = {
        row[0]: row for row in fetch(cache, f"SELECT {_LIST_COLUMNS} {_LIST_TABLES}{among}", *said, to_text(numbers))
    }
    ranked = [_catalogue_row(*found[number]) for number in numbers if number in found]
    return WindowRows(ranked[first : first + size], len(ranked), partly)


def _window(
    cache: apsw.Connection, condition: str, values: list[Any], first: int, size: int, total: int
) -> list[tuple[Any, ...]]:
    """The rows of a window by number, stepped to from the nearer end."""
    behind = total - first - size
    from_end = behind < first
    skip, count = (max(0, behind), min(size, total - first)) if from_end else (first, size)
    if count <= 0:
        return []
    way = "DESC" if from_end else "ASC"
    sql = f"SELECT {_LIST_COLUMNS} {_LIST_TABLES}{condition} ORDER BY p.product_number {way} LIMIT ? OFFSET ?"
    rows = fetch(cache, sql, *values, count, skip)
    return rows[::-1] if from_end else rows


def _sql_conditions(args: Mapping[str, Json]) -> tuple[str, list[Any]]:
    """As SQL, with what stands in it; each has an index that begins with it, or has few products in it."""
    where, said = [], []
    for name in FACET_COLUMNS:
        if args.get(name):
            where.append(f"p.{name} <> '' AND p.{name} = ?")
            said.append(str(args[name]))
    if args.get("among"):
        where.append("p.product_number IN (SELECT value FROM json_each(?))")
        said.append(to_text(args["among"]))
    show = FLAG_FILTERS.get(str(args.get("show") or ""))
    if show:
        where.append(f"p.marks <> 0 AND p.marks & {FLAG_BITS[show][0]}")
    return (f" WHERE {' AND '.join(where)}" if where else ""), said


def _catalogue_row(number: str, name: str, brand: str, category: str, marks: int, known: int, quantity: Json) -> Row:
    flags = {show: bool(marks & FLAG_BITS[flag][0]) for show, flag in FLAG_FILTERS.items()}
    return {
        "product_number": number,
        "product_name": name,
        "brand_description": brand,
        "category_code": category,
        "in_catalogue": bool(known),
        "in_store": quantity is not None,
        **flags,
    }


def list_facets(cache: apsw.Connection, args: Mapping[str, Json]) -> QueryResult:
    """A window on the categories or suppliers (`kind`) that products have, the most products first: `code`, `name`
    where it is known, `count`. `search` words in code or name."""
    column = FACET_COLUMNS[str(args["kind"])]
    first, size = window_bounds(args, DEFAULT_SIZE)
    counted = fetch(cache, "SELECT code, n FROM facet WHERE kind = ? AND n > 0 ORDER BY n DESC, code", column)
    words = normalise_text(str(args.get("search") or "")).split()
    names: dict[str, str] = {}
    if words:
        names = {str(code): _facet_name(cache, column, str(code)) for code, _ in counted}
        counted = [
            row for row in counted if all(word in index_text(f"{row[0]} {names[str(row[0])]}") for word in words)
        ]
    shown = counted[first : first + size]
    rows: list[Row] = [
        {"code": str(code), "name": names.get(str(code)) or _facet_name(cache, column, str(code)), "count": int(count)}
        for code, count in shown
    ]
    return rows, len(counted)


def _facet_name(cache: apsw.Connection, column: str, code: str) -> str:
    rows = fetch(cache, _FACET_NAMES[column], code)
    return str(rows[0][0] or "") if rows else ""


def load_catalogue_page(
    cache: apsw.Connection, load_product: Callable[[Mapping[str, Json]], QueryResult], args: Mapping[str, Json]
) -> QueryResult:
    """One product (`product_number`): the row of the read `product`, what the `catalogue` says of it, the `variants` of
    its family, and the `parts` of a set with their names."""
    rows, _ = load_product(args)
    if not rows:
        return [], 0
    row, number = rows[0], str(args["product_number"])
    family = str(row.get("variant_family") or "")
    own = fetch(cache, "SELECT raw FROM product WHERE product_number = ?", number)
    catalogue_row = parse_row(own[0][0]) if own and own[0][0] else {}
    kin = fetch(
        cache,
        "SELECT p.product_number, p.name, p.raw FROM product p WHERE p.family <> '' AND p.family = ?"
        " ORDER BY p.product_number LIMIT ?",
        family,
        MAX_RELATED,
    )
    parts = catalogue_row.get("set_product")
    return [
        {
            **row,
            "catalogue": catalogue_row,
            "variants": [_variant(str(each), str(name), raw) for each, name, raw in kin if str(each) != number],
            "parts": _set_parts(cache, parts if isinstance(parts, list) else []),
        }
    ], 1


def _variant(number: str, name: str, raw: str) -> Row:
    said = parse_row(raw) if raw else {}
    return {
        "product_number": number,
        "product_name": name,
        "color": said.get("color") or said.get("color_code"),
        "size": said.get("size") or said.get("size_code"),
        "factor": said.get("variant_factor"),
    }


def _set_parts(cache: apsw.Connection, parts: list[Any]) -> list[Row]:
    said = [part for part in parts[:MAX_RELATED] if isinstance(part, dict)]
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
