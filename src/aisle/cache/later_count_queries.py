"""Queries of counts that have a later one: those that are not sent yet, and those that the service does not use.

Our own service keeps the later of two counts of the same goods, whichever it gets first. It then takes back what the
earlier one changes, by an entry of its own at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.cache.list_window import QueryResult
from aisle.cache.log_entry_rows import log_row
from aisle.cache.log_queries import LATEST_START_S, local_entries
from aisle.cache.log_schema import IS_LISTED_SQL, LATE_SOURCE
from aisle.cache.log_undo_queries import last_count_after, undone_entries
from aisle.cache.parse_stored_row import Row, parse_row
from aisle.cache.people_and_rights_queries import person_name
from aisle.cache.product_names_and_prices import product_names
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.cache.superseded_counts import taken_back
from aisle.decimal_of_row import to_decimal
from aisle.host.database import fetch
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import Operation, operation_from_row
from aisle.outbox.operation_states import CLOSED, REFUSED

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import EntryRow, LaterCountsRow, MovesSinceRow, UnusedCountsRow

_TIMES_OF_COUNTS = """
SELECT DISTINCT e.value ->> 'scanned_datetime'
FROM operation o INDEXED BY operation_logs, json_each(o.body, '$.storeproductlog') e
WHERE operation = 'create-store-product-logs' AND created_at >= ? AND app_user = ? AND state = 'done'
AND query ->> 'is_counted_quantity'
"""
_COUNTS_WITH_LATE_ENTRY = f"""
SELECT DISTINCT c.key, c.at, c.raw FROM json_each(?) e
CROSS JOIN log l INDEXED BY log_at ON l.at = e.value AND l.raw ->> 'source' = '{LATE_SOURCE}'
JOIN log c INDEXED BY log_at ON c.at = l.at AND c.product_number = l.product_number AND c.app_user_name = ?
ORDER BY c.at, c.key
"""  # noqa: S608 - a word of our own
_MOVES = f"""
SELECT product_number, at, raw FROM log INDEXED BY log_at
WHERE at >= ? AND product_number IN (SELECT value FROM json_each(?)) AND NOT {IS_LISTED_SQL}
"""  # noqa: S608 - a condition of our own
_NO_MOVES = (LATE_SOURCE, "short", "rejected", "opening")
"""Sources of entries that move no goods."""
_LOCAL_MOVES = """
SELECT * FROM operation INDEXED BY operation_day
WHERE operation = 'create-movement' AND created_at >= ? AND store = ? AND superseded_by = ''
"""


@declare_query("later_counts", "goods", whole_topics("log", OUTBOX))
def later_counts(context: QueryContext, args: Args) -> QueryResult[LaterCountsRow]:
    """Return the last standing count after each of the `goods` (product, location, pool or 0, time) that has one.

    Counts of this host count before they are sent. The rows are in the order of the goods.
    """
    cache, outbox = context.cache, context.outbox
    goods = [(str(product), str(code), int(pool), to_utc_text(str(at))) for product, code, pool, at in args["goods"]]
    since = min((at for *_, at in goods), default="")
    if not since:
        return [], 0
    undone = undone_entries(cache, outbox, since)
    sent = local_entries(context, since)
    rows: list[LaterCountsRow] = []
    for product, location, pool, at in goods:
        found = last_count_after(cache, product, (location,), pool, at, undone, sent)
        if found:
            rows.append(
                {
                    "product_number": product,
                    "location_code": location,
                    "pool": pool,
                    "counted_quantity": found["counted_quantity"] or Decimal(0),
                    "at": found["at"],
                    "user_name": person_name(cache, found["app_user_name"]),
                }
            )
    return rows, len(rows)


@declare_query("moves_since", "products since", whole_topics("log", OUTBOX))
def moves_since(context: QueryContext, args: Args) -> QueryResult[MovesSinceRow]:
    """Return what came to a location or left it since then, of these products, without losses, finds and counts."""
    since, products = to_utc_text(str(args["since"])), [str(each) for each in args["products"]]
    logged = fetch(context.cache, _MOVES, since, to_text(products))
    entries = [(str(product), str(at), parse_row(raw)) for product, at, raw in logged]
    rows = [
        _move(product, raw, raw, to_decimal(raw.get("quantity")), at)
        for product, at, raw in entries
        if raw.get("source") not in _NO_MOVES
    ]
    known = " ".join(f"{raw.get('reference')} {raw.get('source')}" for _, _, raw in entries)
    begin = datetime.fromisoformat(since).timestamp() - LATEST_START_S
    for row in fetch(context.outbox, _LOCAL_MOVES, begin, context.store_folder.store):
        operation = operation_from_row(row)
        if operation.op_id not in known and operation.state not in (REFUSED, CLOSED):
            rows += [move for move in _local_moves(operation) if move["product_number"] in products]
    rows = [row for row in rows if row["location_code"]]
    return rows, len(rows)


def _local_moves(operation: Operation) -> Iterator[MovesSinceRow]:
    """Yield what leaves and what arrives by a movement of this host."""
    for item in operation.body:
        quantity, at = to_decimal(item.get("quantity")), operation.occurred_at
        source, target = item.get("from_location") or {}, item.get("to_location") or {}
        arrival = {"stock_pool": source.get("stock_pool"), **target}
        yield _move(str(item["product_number"]), source, item, -quantity, item.get("taken_datetime") or at)
        yield _move(str(item["product_number"]), arrival, item, quantity, at)


def _move(product: str, place: Row, entry: Row, quantity: Decimal, at: str) -> MovesSinceRow:
    return {
        "product_number": product,
        "location_code": str(place.get("location_code") or ""),
        "pool": int(to_decimal(place.get("stock_pool"))),
        "quantity": quantity,
        "at": to_utc_text(str(at)),
        "undone_at": to_utc_text(str(entry.get("undone_datetime") or "")),
    }


@declare_query("unused_counts", "user since", whole_topics("log"))
def unused_counts(context: QueryContext, args: Args) -> QueryResult[UnusedCountsRow]:
    """Return the counts of a person, sent from this host `since` then, that the service does not use, oldest first."""
    cache, user = context.cache, str(args["user"])
    since = datetime.fromisoformat(str(args["since"])).timestamp()
    times = [to_utc_text(str(at)) for (at,) in fetch(context.outbox, _TIMES_OF_COUNTS, since, user) if at]
    found = fetch(cache, _COUNTS_WITH_LATE_ENTRY, to_text(times), user) if times else []
    entries = [log_row(str(key), str(at), parse_row(raw)) for key, at, raw in found]
    not_used = taken_back(cache, [row["key"] for row in entries])
    counts = [row for row in entries if row["counted_quantity"] is not None and row["key"] in not_used]
    names = product_names(cache, (row["product_number"] for row in counts))
    return [_unused_count(context, row, names) for row in counts], len(counts)


def _unused_count(context: QueryContext, row: EntryRow, names: Mapping[str, str]) -> UnusedCountsRow:
    """Return the row of a count that is not used, with who made the later one."""
    cache, product, at = context.cache, row["product_number"], row["at"]
    undone = undone_entries(cache, context.outbox, at)
    later = last_count_after(cache, product, (row["location_code"],), row["pool"], at, undone)
    return {
        "key": row["key"],
        "label": names.get(product, product),
        "location_code": row["location_code"],
        "counted_quantity": row["counted_quantity"] or Decimal(0),
        "later_quantity": later["counted_quantity"] if later else None,
        "user_name": person_name(cache, later["app_user_name"]) if later else "",
    }
