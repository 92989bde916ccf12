"""Writing of the rows of the store's log, so that no list scans the whole log, and of their times.

interface: Store product log entry.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from aisle.cache.difference_and_loss_writer import write_differences
from aisle.cache.field_parsing import RawRow, dump_row, key_field, require_object, text_field
from aisle.cache.log_schema import UNDO_MARK, LogRow
from aisle.cache.product_writer import changed_rows
from aisle.host.database import fetch
from aisle.host.store_folder import short_hash
from aisle.jobs.store_time import to_utc_text
from aisle.search_text import index_text

TIME_FIELDS = ("moved_on", "created_on", "updated_on")
"""Fields with the time of an entry; the first one with a value counts."""

NUMBER_FIELDS = ("id", "product_number", "customer_order_number", "reference")
"""Fields in which a number is an identifier."""


DELETE_BATCH = 2000
"""Greatest number of old entries deleted in one write, because other writers wait meanwhile.

Later writes delete the rest.
"""

_DELETE_OLD = f"""
DELETE FROM log WHERE key IN (
  SELECT key FROM log WHERE at < ? AND (at < ? OR (raw ->> 'reason_code' IS NULL AND NOT instr(raw, '{UNDO_MARK}')))
  ORDER BY at LIMIT ?
)
"""  # noqa: S608 - a condition of our own


def parse_log_entry(service_row: object) -> LogRow:
    """Parse a log entry. One without an id gets a hash of its content as key. interface: Store product log entry."""
    raw = require_object(service_row)
    text = dump_row(raw)
    moment = _entry_time(raw)
    key = text_field(raw, "id") or f"#{short_hash(text.encode())}"
    return LogRow(
        key, moment, key_field(raw, "product_number"), text_field(raw, "app_user_name"), entry_index_text(raw), text
    )


def _entry_time(raw: RawRow) -> str:
    return to_utc_text(next((time_text for name in TIME_FIELDS if (time_text := text_field(raw, name))), ""))


def entry_index_text(raw: RawRow) -> str:
    """Return the search text of an entry: its words and identifiers, without times and quantities."""
    names = (name for name in raw if name in NUMBER_FIELDS or (isinstance(raw[name], str) and not name.endswith("_on")))
    return index_text(" ".join(text_field(raw, name) for name in names if name != "store_number"))


def write_logs(connection: apsw.Connection, rows: Sequence[LogRow], since: str, losses_since: str) -> tuple[str, ...]:
    """Write entries, and delete a part of those before `since`, or before `losses_since` if they have a reason.

    Return the keys of new and changed entries.
    """
    fresh = changed_rows(connection, "log", "key", {row.key: row for row in rows})
    _replace_entries(connection, fresh, [row.key for row in fresh])
    connection.execute(_DELETE_OLD, (since, min(since, losses_since), DELETE_BATCH))
    return tuple(row.key for row in fresh)


def _replace_entries(connection: apsw.Connection, new_rows: Sequence[LogRow], deleted_keys: Sequence[str]) -> None:
    """Delete and insert entries.

    Triggers keep the sums, and a plain replacement would not subtract old rows.
    """
    connection.executemany("DELETE FROM log WHERE key = ?", [(name,) for name in deleted_keys])
    connection.executemany(
        "INSERT INTO log (key, at, product_number, app_user_name, text, raw) VALUES (?, ?, ?, ?, ?, ?)", new_rows
    )
    write_differences(connection, new_rows)


_FIRST_TIME_SQL = " WHEN ".join(f"raw ->> '{name}' <> '' THEN raw ->> '{name}'" for name in TIME_FIELDS)
_WITHOUT_ZONE = f"""
SELECT key, at, product_number, app_user_name, text, raw FROM (
  SELECT *, CASE WHEN {_FIRST_TIME_SQL} END AS said FROM log
) WHERE said NOT LIKE '%Z' AND said NOT GLOB '*[+-][0-9][0-9]:[0-9][0-9]'
"""  # noqa: S608 - names of our own


def recompute_log_times(connection: apsw.Connection) -> int:
    """Recompute the times that name no zone in the zone of this process. Return how many changed."""
    rows = (LogRow(*map(str, row)) for row in fetch(connection, _WITHOUT_ZONE))
    changed = [row._replace(at=at) for row in rows if (at := _entry_time(json.loads(row.raw))) != row.at]
    _replace_entries(connection, changed, [row.key for row in changed])
    return len(changed)
