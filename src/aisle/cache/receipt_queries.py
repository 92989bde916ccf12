"""Queries of the receipts of deliveries. interface: Receipt order."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import TYPE_CHECKING

import apsw

from aisle.cache.delivery_queries import PRODUCT_NAMES, LineToSum, sum_lines
from aisle.cache.list_window import QueryResult, read_along, read_window, window_bounds
from aisle.cache.parse_stored_row import Row, parse_row
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.named_tuple_json import to_text
from aisle.search_text import normalise_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import ReceiptKindsRow, ReceiptsRow

_RECEIPTS_BY_NUMBER = """
SELECT r.order_number, r.kind, r.raw FROM json_each(?) e JOIN receipt r ON r.order_number = e.value ORDER BY e.key
"""


@declare_query("receipts", "kind search first size", whole_topics("delivery"))
def list_receipts(context: QueryContext, args: Args) -> QueryResult[ReceiptsRow]:
    """Return a window on the receipts of the service, of one `kind` or of all, youngest first."""
    cache = context.cache
    words, kind = normalise_text(str(args.get("search") or "")).split(), str(args.get("kind") or "")
    of_kind, kind_values = ("kind = ?", [kind]) if kind else ("1", [])
    where, values = of_kind + " AND instr(text, ?)" * len(words), [*kind_values, *words]
    select = f"SELECT order_number FROM receipt WHERE {where}"  # noqa: S608
    read = read_along(cache, select, ("import_id DESC", "order_number"), *values)
    if words:
        ((total,),) = fetch(cache, f"SELECT count(*) FROM receipt WHERE {where}", *values)  # noqa: S608
    else:
        ((total,),) = fetch(cache, f"SELECT ifnull(sum(n), 0) FROM receipt_tally WHERE {of_kind}", *kind_values)  # noqa: S608
    numbers = [str(name) for (name,) in read_window(read, int(total), *window_bounds(args))]
    found = [
        (str(number), str(of), parse_row(str(raw)))
        for number, of, raw in fetch(cache, _RECEIPTS_BY_NUMBER, to_text(numbers))
    ]
    measured = _measured_products(cache, (raw for _, _, raw in found))
    return [_receipt_row(*receipt, measured, context.weight_tolerance) for receipt in found], int(total)


@declare_query("receipt_kinds", "", whole_topics())
def count_receipt_kinds(context: QueryContext, _: Args) -> QueryResult[ReceiptKindsRow]:
    """Return the known types of receipts with the number of each."""
    rows: list[ReceiptKindsRow] = [
        {"kind": str(kind), "count": int(count)}
        for kind, count in fetch(context.cache, "SELECT kind, n FROM receipt_tally WHERE n > 0 ORDER BY kind")
    ]
    return rows, len(rows)


def _receipt_row(number: str, kind: str, raw: Row, measured: Collection[str], tolerance: Decimal) -> ReceiptsRow:
    """Return a receipt; `measured` are the products sold by measure, of which `tolerance` per cent may be missing."""
    lines = raw.get("receipt_lines") or ()
    moments = [str(line.get("updated_on") or "") for line in lines]
    sums = sum_lines([_line_to_sum(line, measured, tolerance) for line in lines])
    unannounced = sum(line.get("shipped_quantity") is None for line in lines)
    has_announced = unannounced < len(lines)
    received = sums.received if has_announced else sum((_received(line) for line in lines), Decimal(0))
    return {
        "order_number": number,
        "kind": kind,
        "status": str(raw.get("status") or ""),
        "supplier_name": str(raw.get("supplier_name") or raw.get("supplier_code") or ""),
        "at": max(moments, default="") or str(raw.get("datetime_created") or ""),
        "lines": len(lines),
        "complete_lines": sums.complete_lines,
        "is_mixed": sums.has_no_sum if has_announced else any(_is_measured(line, measured) for line in lines),
        "received_quantity": None if sums.is_unknown or not lines else received,
        "shipped_quantity": None if unannounced or not lines else sums.quantity,
    }


def _line_to_sum(line: Row, measured: Collection[str], tolerance: Decimal) -> LineToSum:
    shipped = line.get("shipped_quantity")
    is_unknown = line.get("received_quantity") is None
    announced = None if shipped is None else to_decimal(shipped)
    is_measured = _is_measured(line, measured)
    may_lack = (announced or Decimal(0)) * tolerance / 100 if is_measured else Decimal(0)
    return LineToSum(announced, _received(line), is_measured, is_unknown, may_lack)


def _received(line: Row) -> Decimal:
    return to_decimal(line.get("received_quantity"))


def _is_measured(line: Row, measured: Collection[str]) -> bool:
    return str(line.get("product_number") or "") in measured


def _measured_products(cache: apsw.Connection, receipts: Iterable[Row]) -> set[str]:
    """Return the products of these receipts that are sold by measure."""
    products = {str(line.get("product_number") or "") for raw in receipts for line in raw.get("receipt_lines") or ()}
    return {str(number) for number, *_, decimals in fetch(cache, PRODUCT_NAMES, to_text(sorted(products))) if decimals}
