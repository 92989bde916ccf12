"""Query of the log entries to review.

Our own service asks for a review where a booking made the stock negative, or received more than was announced. Counts
that differ are left out, and so are receipts of lines with excess: both are lists of their own, where a decision closes
the review.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from aisle.cache.differences_and_negative_stock import STATUS_REVIEWED
from aisle.cache.list_window import QueryResult, read_along, read_window, window_bounds
from aisle.cache.log_queries import entries_by_key
from aisle.cache.log_schema import IS_TO_REVIEW_SQL
from aisle.cache.parse_stored_row import parse_row
from aisle.cache.people_and_rights_queries import announced_features
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.cache.schema import IS_EXCESS_SQL
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.named_tuple_json import to_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import LogRow

_PENDING_REVIEWS = """
SELECT body FROM operation INDEXED BY operation_live
WHERE live = 1 AND operation = 'review-logs' AND state NOT IN ('rejected', 'closed') ORDER BY n
"""
_TO_REVIEW = f"""
FROM log l INDEXED BY log_to_review WHERE {IS_TO_REVIEW_SQL} AND l.key NOT IN (SELECT value FROM json_each(?))
AND NOT EXISTS (SELECT 1 FROM difference d WHERE d.key = l.key AND d.is_undone = 0)
AND NOT EXISTS (SELECT 1 FROM delivery_line INDEXED BY delivery_line_excess WHERE {IS_EXCESS_SQL}
  AND order_number = l.raw ->> 'reference' AND delivery_line.product_number = l.product_number)
"""  # noqa: S608 - a condition of our own


def count_entries_to_review(cache: apsw.Connection, outbox: apsw.Connection) -> int:
    """Return the number of entries to review; none if the service is not known to keep reviews.

    Nobody could close the review at another service, where the same status may have another meaning.
    """
    if "reviews" not in (announced_features(cache) or ()):
        return 0
    ((count,),) = fetch(cache, f"SELECT count(*) {_TO_REVIEW}", _reviewed_here(outbox))
    return int(count)


@declare_query("entries_to_review", "first size", whole_topics("log", "delivery", "link"))
def query_entries_to_review(context: QueryContext, args: Args) -> QueryResult[LogRow]:
    """Return a window on the entries to review, the youngest first."""
    cache, select = context.cache, f"SELECT l.at, l.key {_TO_REVIEW}"
    read = read_along(cache, select, ("l.at DESC", "l.key DESC"), _reviewed_here(context.outbox))
    total = count_entries_to_review(cache, context.outbox)
    keys = read_window(read, total, *window_bounds(args, 50))
    return entries_by_key(cache, [str(key) for _, key in keys]), total


def pending_reviews(outbox: apsw.Connection) -> dict[str, str]:
    """Return the review states by entry that this host has set and not read back yet."""
    bodies = [parse_row(body) for (body,) in fetch(outbox, _PENDING_REVIEWS)]
    return {str(each["id"]): str(each.get("review_status")) for body in bodies for each in body.get("reviews") or ()}


def _reviewed_here(outbox: apsw.Connection) -> str:
    """Return the keys of the entries reviewed on this host that were not read back yet, as JSON."""
    return to_text([key for key, status in pending_reviews(outbox).items() if status == STATUS_REVIEWED])
