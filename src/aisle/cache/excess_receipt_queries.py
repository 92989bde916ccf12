"""Query of the lines of deliveries of which more was received than announced.

Two people who book the same goods make such a line. Pending receipts of this host count. Only figures that the
deliveries themselves state are looked through; those of a receipt order are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aisle.cache.delivery_queries import DeliveryHeader, load_headers, load_lines, pending_receipts, supplier_name
from aisle.cache.list_window import QueryResult, window_bounds
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.cache.schema import IS_EXCESS_SQL
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.named_tuple_json import to_text
from aisle.search_text import natural_key

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import DeliveryLineRow
    from aisle.jobs.row_types.supervisor import ExcessReceiptsRow

_EXCESS_LINES = f"""
SELECT order_number, line_number FROM delivery_line INDEXED BY delivery_line_excess
WHERE {IS_EXCESS_SQL} AND order_number NOT IN (SELECT value FROM json_each(?))
"""  # noqa: S608 - a condition of our own


class DeliveryLineKey(NamedTuple):
    """Identity of a line of a delivery. The product identifies a line that the service has not numbered yet."""

    order_number: str
    line_number: int
    product_number: str = ""


def find_excess_lines(context: QueryContext) -> list[DeliveryLineKey]:
    """Return the lines of which more was received than announced, by delivery and line.

    The lines of deliveries without pending receipts are found by their index.
    """
    pending = pending_receipts(context)
    found = [
        DeliveryLineKey(str(number), int(line))
        for number, line in fetch(context.cache, _EXCESS_LINES, to_text(list(pending)))
    ]
    if pending:
        lines = load_lines(context.cache, load_headers(context.cache, pending), pending)
        found += [_line_key(number, line) for number in lines for line in lines[number] if _is_excess(line)]
    return sorted(found, key=lambda key: (natural_key(key.order_number), *key))


@declare_query("excess_receipts", "first size", whole_topics("delivery"))
def query_excess_receipts(context: QueryContext, args: Args) -> QueryResult[ExcessReceiptsRow]:
    """Return a window on the lines of which more was received than announced, each with its delivery."""
    keys = find_excess_lines(context)
    first, size = window_bounds(args, 50)
    shown = keys[first : first + size]
    heads = load_headers(context.cache, dict.fromkeys(key.order_number for key in shown))
    lines = load_lines(context.cache, heads, pending_receipts(context)) if heads else {}
    rows = {_line_key(head.number, line): _excess_row(head, line) for head in heads for line in lines[head.number]}
    return [rows[key] for key in shown if key in rows], len(keys)


def _line_key(number: str, line: DeliveryLineRow) -> DeliveryLineKey:
    return DeliveryLineKey(number, line["line_number"], "" if line["line_number"] else line["product_number"])


def _is_excess(line: DeliveryLineRow) -> bool:
    return line["quantity"] is not None and line["received"] > line["quantity"]


def _excess_row(header: DeliveryHeader, line: DeliveryLineRow) -> ExcessReceiptsRow:
    key = "/".join(map(str, _line_key(header.number, line)))
    return {**line, "key": key, "order_number": header.number, "supplier_name": supplier_name(header)}
