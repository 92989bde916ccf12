"""Queries on the chain's catalogue, for the supervisor's page of products. interface: Product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import apsw

from aisle.cache.product_and_stock_writer import FLAG_BITS
from aisle.cache.product_queries import query_product, search_products, search_within
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    WindowRows,
    declare_query,
    read_along,
    read_window,
    sort_rows,
    topic_of,
    whole_topics,
    window_bounds,
)
from aisle.cache.stored_row_values import parse_row, product_names
from aisle.host.database import fetch
from aisle.jobs.job import Args, Json
from aisle.jobs.list_cursor_and_search import MAX_COUNTED
from aisle.named_tuple_json import to_text
from aisle.search_text import index_text, normalise_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import CataloguePageRow, CatalogueRow, FacetsRow, SetPartRow, VariantRow
    from aisle.jobs.row_types.raw_service_rows import ServiceProduct

MAX_RELATED = 100
"""Greatest number of variants, and of parts of a set, on a product's page."""

FLAG_FILTERS = {"promotion": "is_promotion", "set": "is_set", "ended": "is_active", "by_hand": "is_order_manually"}
"""Filters of the catalogue list, each with the product's flag."""

FACET_COLUMNS = {"category": "category", "supplier": "supplier"}
"""Columns by which products are grouped."""

_LIST_COLUMNS = "p.product_number, p.name, p.brand, p.category, p.marks, p.raw <> '', s.quantity"
_LIST_TABLES = "FROM product p LEFT JOIN stock s ON s.id = p.id"
_FACET_NAMES = {
    "category": "SELECT s.raw ->> 'category_name' FROM product p JOIN stock s ON s.id = p.id"
    " WHERE p.category <> '' AND p.category = ? ORDER BY p.product_number LIMIT 1",
    "supplier": "SELECT p.raw ->> 'supplier_name' FROM product p"
    " WHERE p.supplier <> '' AND p.supplier = ? ORDER BY p.product_number LIMIT 1",
}
"""Name of a category or supplier, taken from one of its products. Only the stock list names categories."""


SORTS = ("product_number", "product_name")
"""Fields by which the list is read from an index, or its hits are sorted."""


@declare_query(
    "catalogue", "search show category supplier among order_by descending first size", whole_topics("product"), SORTS
)
def list_catalogue(context: QueryContext, args: Args) -> WindowRows[CatalogueRow]:
    """Return a window on the products, by number; with words to `search` the best hits first, at most `MAX_COUNTED`,
    unless they are sorted.

    `show`: empty for all, or one of `FLAG_FILTERS`. `category`, `supplier`: only products of it. `among`: only these
    product numbers.
    """
    cache, (first, size) = context.cache, window_bounds(args)
    where, values = _sql_conditions(args)
    if not normalise_text(str(args.get("search") or "")).split():
        ((total,),) = fetch(cache, f"SELECT count(*) FROM product p{where}", *values)  # noqa: S608
        columns = ("p.name", "p.product_number") if args.get("order_by") == "product_name" else ("p.product_number",)
        order = [f"{column} DESC" for column in columns] if args.get("descending") else columns
        read = read_along(cache, f"SELECT {_LIST_COLUMNS} {_LIST_TABLES}{where}", order, *values)
        rows = read_window(read, int(total), first, size)
        return WindowRows([_catalogue_row(*row) for row in rows], int(total))
    hits, count, partly = search_products(cache, {"search": args["search"], "size": MAX_COUNTED})
    numbers = [str(hit["product_number"]) for hit in hits]
    if where and (partly or count >= MAX_COUNTED):  # the search stopped early: hits that pass the filter may lie beyond
        numbers, partly = search_within(cache, str(args["search"]), where, values)
    among = f"{where or ' WHERE 1'} AND p.product_number IN (SELECT value FROM json_each(?))"  # noqa: S608
    found = {
        row[0]: row for row in fetch(cache, f"SELECT {_LIST_COLUMNS} {_LIST_TABLES}{among}", *values, to_text(numbers))
    }
    ranked = [_catalogue_row(*found[number]) for number in numbers if number in found]
    shown = sort_rows(ranked, args) if args.get("order_by") else ranked
    return WindowRows(shown[first : first + size], len(shown), partly)


def _sql_conditions(args: Args) -> tuple[str, list[Any]]:
    """Return the conditions as SQL and their values.

    Each has an index that begins with its column, or matches few products.
    """
    where, values = [], []
    for name in FACET_COLUMNS:
        if args.get(name):
            where.append(f"p.{name} <> '' AND p.{name} = ?")
            values.append(str(args[name]))
    if args.get("among"):
        where.append("p.product_number IN (SELECT value FROM json_each(?))")
        values.append(to_text(args["among"]))
    show = FLAG_FILTERS.get(str(args.get("show") or ""))
    if show:
        where.append(f"p.marks <> 0 AND p.marks & {FLAG_BITS[show][0]}")
    return (f" WHERE {' AND '.join(where)}" if where else ""), values


def _catalogue_row(
    number: str, name: str, brand: str, category: str, marks: int, known: int, quantity: Json
) -> CatalogueRow:
    flags = {show: bool(marks & FLAG_BITS[flag][0]) for show, flag in FLAG_FILTERS.items()}
    return {
        "product_number": number,
        "product_name": name,
        "brand_description": brand,
        "category_code": category,
        "in_catalogue": bool(known),
        "in_store": quantity is not None,
        "promotion": flags["promotion"],
        "set": flags["set"],
        "ended": flags["ended"],
        "by_hand": flags["by_hand"],
    }


@declare_query("facets", "kind search first size", whole_topics("product"))
def list_facets(context: QueryContext, args: Args) -> QueryResult[FacetsRow]:
    """Return a window on the categories or suppliers (`kind`), most products first.

    `search`: words that code or name must contain.
    """
    cache = context.cache
    column = FACET_COLUMNS[str(args["kind"])]
    first, size = window_bounds(args)
    counted = fetch(cache, "SELECT code, n FROM facet WHERE kind = ? AND n > 0 ORDER BY n DESC, code", column)
    words = normalise_text(str(args.get("search") or "")).split()
    names: dict[str, str] = {}
    if words:
        names = {str(code): _facet_name(cache, column, str(code)) for code, _ in counted}
        counted = [
            row for row in counted if all(word in index_text(f"{row[0]} {names[str(row[0])]}") for word in words)
        ]
    shown = counted[first : first + size]
    rows: list[FacetsRow] = [
        {"code": str(code), "name": names.get(str(code)) or _facet_name(cache, column, str(code)), "count": int(count)}
        for code, count in shown
    ]
    return rows, len(counted)


def _facet_name(cache: apsw.Connection, column: str, code: str) -> str:
    rows = fetch(cache, _FACET_NAMES[column], code)
    return str(rows[0][0] or "") if rows else ""


@declare_query("catalogue_page", "product_number", topic_of("product", "product_number"))
def load_catalogue_page(context: QueryContext, args: Args) -> QueryResult[CataloguePageRow]:
    """Return one product (`product_number`): the row of the query `product`, and the `catalogue` row.

    Added are the `variants` of its family and the `parts` of a set with their names.
    """
    rows, _ = query_product(context, args)
    if not rows:
        return [], 0
    cache, row, number = context.cache, rows[0], str(args["product_number"])
    family = str(row.get("variant_family") or "")
    own = fetch(cache, "SELECT raw FROM product WHERE product_number = ?", number)
    catalogue_row = parse_row(own[0][0]) if own and own[0][0] else {}
    family_rows = fetch(
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
            "catalogue": cast("ServiceProduct", catalogue_row),
            "variants": [_variant(str(each), str(name), raw) for each, name, raw in family_rows if str(each) != number],
            "parts": _set_parts(cache, parts if isinstance(parts, list) else []),
        }
    ], 1


def _variant(number: str, name: str, raw: str) -> VariantRow:
    product = parse_row(raw) if raw else {}
    return {
        "product_number": number,
        "product_name": name,
        "color": product.get("color") or product.get("color_code"),
        "size": product.get("size") or product.get("size_code"),
        "factor": product.get("variant_factor"),
    }


def _set_parts(cache: apsw.Connection, parts: list[Any]) -> list[SetPartRow]:
    rows = [part for part in parts[:MAX_RELATED] if isinstance(part, dict)]
    numbers = [str(part.get("set_product_number") or "") for part in rows]
    names = product_names(cache, numbers)
    return [
        {
            "product_number": number,
            "product_name": names.get(number, ""),
            "quantity": str(part.get("set_item_quantity") or ""),
        }
        for number, part in zip(numbers, rows, strict=True)
    ]
