"""Lists of the service that this host has never read to the end, or could not read last time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import apsw

from aisle.cache.list_window import QueryResult
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.host.database import fetch
from aisle.jobs.job import Args
from aisle.jobs.view import MissingList, UnusableRows
from aisle.outbox.stored_reasons import DUPLICATE_KEY

if TYPE_CHECKING:
    from aisle.jobs.row_types.people_stores_and_features import UnreadListsRow


LISTS_SHOWN = ("headers", "lines", "locations", "deliveries", "recounts", "products", "stock")
"""Lists of the first sync that pages show, in the order of the sync."""

LOG_LIST = "logs"
"""Name of the store's log among the lists that were never read."""

_TABLE_BY_LIST = {
    "headers": "orders",
    "lines": "line",
    "locations": "location",
    "deliveries": "delivery",
    "recounts": "recount",
    "products": "product",
    "stock": "stock",
}

_SYNC_STATE = """
SELECT (SELECT cursor ->> '$.completed' FROM sync WHERE topic = 'full'),
  (SELECT cursor FROM sync WHERE topic = 'full' AND cursor ->> '$.full'),
  EXISTS (SELECT 1 FROM sync WHERE topic = 'logs_span')
"""
"""The cursor counts only after a full sync has begun; before, it has requested lists only."""

_UNREAD_LISTS = """
SELECT value FROM json_each(?1, '$.todo') UNION ALL SELECT value FROM json_each(?1, '$.missing')
UNION ALL SELECT ?1 ->> '$.at.stage'
"""

_MISSING_AND_SKIPPED = (
    "SELECT cursor -> '$.missing', cursor -> '$.reasons', cursor -> '$.left_out' FROM sync WHERE topic = 'full'"
)


def missing_lists(cache: apsw.Connection) -> tuple[tuple[MissingList, ...], tuple[UnusableRows, ...]]:
    """Return the lists that could not be read last time, and the rows that could not be used."""
    found = fetch(cache, _MISSING_AND_SKIPPED)
    missing, reasons, left_out = (json.loads(each or "[]") for each in (found[0] if found else ("", "", "")))
    reason_by_list = {str(name): str(reason) for name, reason in reasons}
    lists = tuple(MissingList(str(name), reason_by_list.get(str(name), "")) for name in missing)
    return lists, tuple(
        UnusableRows(str(name), int(count), str(reason), reason == DUPLICATE_KEY) for name, count, reason in left_out
    )


def unread_lists(cache: apsw.Connection) -> tuple[str, ...]:
    """Return the lists of `LISTS_SHOWN` that were never read to the end, and `logs` for the store's log.

    It is empty after a full sync, except for lists that the service has never allowed to be read.
    """
    completed, cursor, logs = fetch(cache, _SYNC_STATE)[0]
    log = () if logs else (LOG_LIST,)
    if completed:
        missing = [each.name for each in missing_lists(cache)[0] if each.name in LISTS_SHOWN]
        first_row = "SELECT 1 FROM {} LIMIT 1"
        return (*(name for name in missing if not fetch(cache, first_row.format(_TABLE_BY_LIST[name]))), *log)
    unread = LISTS_SHOWN if cursor is None else tuple(str(name) for (name,) in fetch(cache, _UNREAD_LISTS, cursor))
    return (*(name for name in LISTS_SHOWN if name in unread), *log)


@declare_query("unread_lists", "", whole_topics())
def query_unread_lists(context: QueryContext, _: Args) -> QueryResult[UnreadListsRow]:
    """Return the lists that were never read to the end."""
    found = unread_lists(context.cache)
    return [{"list": name} for name in found], len(found)
