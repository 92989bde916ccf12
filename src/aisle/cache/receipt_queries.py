"""Queries of the receipts of deliveries, and of lines with more received than announced. interface: Receipt order.

Two people who book the same goods make such a line. Pending receipts of this host count. Only figures that the
deliveries themselves state are looked through; those of a receipt order are not.

A note of this host accepts the received quantity, but no more. Our own service wants the log entry of such a receipt
reviewed: it also counts as accepted if all these entries are reviewed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import apsw

from aisle.cache.count_and_review_queries import pending_reviews
from aisle.cache.delivery_queries import (
    PRODUCT_NAMES,
    DeliveryHeader,
    LineToSum,
    load_headers,
    load_lines,
    pending_receipts,
    sum_lines,
    supplier_name,
)
from aisle.cache.log_schema import WAS_TO_REVIEW_SQL
from aisle.cache.people_and_claim_queries import announced_features
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    declare_query,
    read_along,
    read_window,
    whole_topics,
    window_bounds,
)
from aisle.cache.row_parsing_and_writing import STATUS_REVIEWED
from aisle.cache.schema import IS_EXCESS_SQL
from aisle.cache.stored_row_values import Row, parse_row
from aisle.host.database import fetch
from aisle.jobs.job import ACCEPTED_EXCESS, Args
from aisle.named_tuple_json import to_text
from aisle.outbox.local_notes import LocalNoteRow, notes_of_topic
from aisle.row_values import to_decimal
from aisle.search_text import natural_key, normalise_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import DeliveryLineRow, ReceiptKindsRow, ReceiptsRow
    from aisle.jobs.row_types.exceptions_clearance_and_today import ExcessReceiptsRow


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


_EXCESS_LINES = f"""
SELECT order_number, line_number, product_number, quantity, received FROM delivery_line INDEXED BY delivery_line_excess
WHERE {IS_EXCESS_SQL} AND order_number NOT IN (SELECT value FROM json_each(?))
"""  # noqa: S608 - a condition of our own

_REVIEWS_OF_DELIVERIES = f"""
SELECT l.raw ->> 'reference', l.product_number, l.key, CAST(l.raw ->> 'review_status' AS TEXT) FROM json_each(?) e
CROSS JOIN log l INDEXED BY log_review_of ON l.raw ->> 'reference' = e.value AND {WAS_TO_REVIEW_SQL}
"""  # noqa: S608 - a condition of our own


class ExcessLine(NamedTuple):
    """Line of a delivery of which more was received than announced."""

    order_number: str
    line_number: int
    product_number: str
    is_announced: bool
    received: Decimal

    @property
    def key(self) -> str:
        """Key of the row. The product identifies a line that the service has not numbered yet."""
        return f"{self.order_number}/{self.line_number}/{'' if self.line_number else self.product_number}"

    @property
    def note_key(self) -> str:
        """Key of the note that accepts it, which stays when the service numbers an unannounced line."""
        return f"{self.order_number}/{self.line_number if self.is_announced else '/' + self.product_number}"


def find_excess_lines(context: QueryContext) -> list[ExcessLine]:
    """Return the lines of which more was received than announced and accepted, by delivery and line.

    The lines of deliveries without pending receipts are found by their index.
    """
    lines = _lines_with_excess(context)
    if not lines:
        return []
    notes = notes_of_topic(context.outbox, ACCEPTED_EXCESS)
    reviews = _reviews_of(context, lines)
    return [line for line in lines if not (_is_noted(line, notes) or _is_reviewed(reviews.get(_goods_of(line), {})))]


def _lines_with_excess(context: QueryContext) -> list[ExcessLine]:
    pending = pending_receipts(context)
    found = [
        ExcessLine(str(number), int(line), str(product), bool(quantity), to_decimal(received))
        for number, line, product, quantity, received in fetch(context.cache, _EXCESS_LINES, to_text(list(pending)))
    ]
    if pending:
        lines = load_lines(context, load_headers(context.cache, pending), pending)
        found += [_excess_line(number, line) for number in lines for line in lines[number] if _is_excess(line)]
    return sorted(found, key=lambda line: (natural_key(line.order_number), *line))


def _is_noted(line: ExcessLine, notes: Mapping[str, LocalNoteRow]) -> bool:
    note = notes.get(line.note_key)
    return note is not None and line.received <= to_decimal(note.text)


def _is_reviewed(reviews: Mapping[str, bool]) -> bool:
    return bool(reviews) and all(reviews.values())


Goods = tuple[str, str]
"""A delivery and a product."""


def _goods_of(line: ExcessLine) -> Goods:
    return line.order_number, line.product_number


def _reviews_of(context: QueryContext, lines: Sequence[ExcessLine]) -> dict[Goods, dict[str, bool]]:
    """Return the log entries of these goods that our own service wants reviewed; True for reviewed ones."""
    if "reviews" not in (announced_features(context.cache) or ()):
        return {}
    pending = pending_reviews(context.outbox)
    found: dict[Goods, dict[str, bool]] = {}
    numbers = to_text(sorted({line.order_number for line in lines}))
    for number, product, key, status in fetch(context.cache, _REVIEWS_OF_DELIVERIES, numbers):
        found.setdefault((str(number), str(product)), {})[str(key)] = pending.get(str(key), status) == STATUS_REVIEWED
    return found


@declare_query("excess_receipts", "order_number first size", whole_topics("delivery", "log"))
def query_excess_receipts(context: QueryContext, args: Args) -> QueryResult[ExcessReceiptsRow]:
    """Return a window on the lines of which more was received than announced and accepted, each with its delivery.

    `order_number` names one delivery.
    """
    number = str(args.get("order_number") or "")
    found = [line for line in find_excess_lines(context) if number in ("", line.order_number)]
    first, size = window_bounds(args, 50)
    shown = found[first : first + size]
    reviews = _reviews_of(context, shown) if shown else {}
    heads = load_headers(context.cache, dict.fromkeys(line.order_number for line in shown))
    lines = load_lines(context, heads, pending_receipts(context)) if heads else {}
    rows = {
        _excess_line(head.number, line).key: _excess_row(head, line, reviews)
        for head in heads
        for line in lines[head.number]
    }
    return [rows[line.key] for line in shown if line.key in rows], len(found)


def _excess_line(number: str, line: DeliveryLineRow) -> ExcessLine:
    return ExcessLine(number, line["line_number"], line["product_number"], bool(line["quantity"]), line["received"])


def _is_excess(line: DeliveryLineRow) -> bool:
    return line["quantity"] is not None and line["received"] > line["quantity"]


def _excess_row(
    header: DeliveryHeader, line: DeliveryLineRow, reviews: Mapping[Goods, Mapping[str, bool]]
) -> ExcessReceiptsRow:
    excess = _excess_line(header.number, line)
    return {
        **line,
        "key": excess.key,
        "note_key": excess.note_key,
        "order_number": header.number,
        "supplier_name": supplier_name(header),
        "to_review": [key for key, is_reviewed in reviews.get(_goods_of(excess), {}).items() if not is_reviewed],
    }
