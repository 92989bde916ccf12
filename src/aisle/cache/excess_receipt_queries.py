"""Query of the lines of deliveries of which more was received than announced, until a supervisor accepts that.

Two people who book the same goods make such a line. Pending receipts of this host count. Only figures that the
deliveries themselves state are looked through; those of a receipt order are not.

A note of this host accepts the received quantity, but no more. Our own service wants the log entry of such a receipt
reviewed: it also counts as accepted if all these entries are reviewed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.cache.delivery_queries import DeliveryHeader, load_headers, load_lines, pending_receipts, supplier_name
from aisle.cache.differences_and_negative_stock import STATUS_REVIEWED
from aisle.cache.entries_to_review_queries import pending_reviews
from aisle.cache.list_window import QueryResult, window_bounds
from aisle.cache.log_schema import WAS_TO_REVIEW_SQL
from aisle.cache.people_and_rights_queries import announced_features
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.cache.schema import IS_EXCESS_SQL
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.jobs.job import ACCEPTED_EXCESS, Args
from aisle.named_tuple_json import to_text
from aisle.outbox.local_notes import LocalNoteRow, notes_of_topic
from aisle.search_text import natural_key

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import DeliveryLineRow
    from aisle.jobs.row_types.exceptions_clearance_and_today import ExcessReceiptsRow

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
