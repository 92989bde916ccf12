"""Tables of the store's log in cache.db: entries, sums over them, and open differences and losses."""

from __future__ import annotations

from typing import NamedTuple

from aisle.operation_body_types import UNDO_PREFIX

COUNT_MARK = '"counted_quantity"'
"""Text in every entry that is a count."""

REASON_MARK = '"reason_code"'
"""Text in every entry that has a reason."""

UNDO_MARK = f'"{UNDO_PREFIX}'
"""Text in every entry that undoes another one."""

LATE_SOURCE = "late"
"""Source of the entry by which our own service takes back what it got after a later count."""

IS_LISTED_SQL = f"""(instr(raw, '{COUNT_MARK}') OR instr(raw, '{REASON_MARK}') OR instr(raw, '{UNDO_MARK}'))"""
"""Condition for entries that may be a count, a loss or a correction; all others contain none of these texts."""

HAS_REASON_SQL = """(raw ->> 'reason_code' IS NOT NULL AND raw ->> 'reason_code_description' <> ''
AND ifnull(raw ->> 'source', '') NOT IN ('short', 'rejected'))"""
"""Condition for entries with a described reason for a loss or a find."""

IS_TO_REVIEW_SQL = "CAST(raw ->> 'review_status' AS TEXT) = '1'"
"""Condition for entries that our own service wants reviewed. interface: review_status."""

WAS_TO_REVIEW_SQL = "CAST(raw ->> 'review_status' AS TEXT) IN ('1', '2')"
"""Condition for entries that our own service wants reviewed, and for reviewed ones."""

_OPERATION_ID_PATTERN = "[A-Z2-7]" * 26
"""Pattern of a reference that is an operation id; aisle sends it where nobody entered a reference."""

WORK_SQL = """
CASE WHEN {row}.raw ->> 'source' = 'aisle' OR {row}.raw ->> 'source' GLOB 'aisle/*' THEN
  CASE WHEN {row}.raw ->> 'counted_quantity' IS NOT NULL THEN 'count'
    WHEN {row}.raw ->> 'reason_code' IS NOT NULL OR {row}.raw ->> 'reference' GLOB 'BACK*' THEN 'aisle'
    WHEN ifnull({row}.raw ->> 'reference', '') = '' OR {row}.raw ->> 'reference' GLOB 'OP_ID' THEN 'movement'
    ELSE 'receipt' END
  ELSE ifnull({row}.raw ->> 'source', '') END
""".replace("OP_ID", _OPERATION_ID_PATTERN).replace("BACK", UNDO_PREFIX)
"""Kind of work of an entry, in the words that our own service uses for sources.

All entries sent by aisle have the source aisle. Counts, losses and corrections are recognised by their fields; of the
others a receipt has the number of its delivery as reference.
"""

_KIND_SQL = """
CASE WHEN {row}.raw ->> 'counted_quantity' IS NOT NULL THEN 'count' ELSE
  CASE OF_WORK WHEN 'pick' THEN 'pick' WHEN 'short' THEN 'short' WHEN 'movement' THEN 'move' ELSE '' END END
""".replace("OF_WORK", WORK_SQL)
"""Kind of an entry in the sums. A movement is two entries, of which only the arrival counts as work."""


def _sum_triggers(name: str, event: str, row: str, sign: int) -> str:
    """Return a trigger that updates the sums by hour and person, and by hour and location."""
    kind = _KIND_SQL.format(row=row)
    quantity = f"CAST({row}.raw ->> 'quantity' AS REAL)"
    location = f"ifnull({row}.raw ->> 'location_code', '')"
    cleanup = f"""
  DELETE FROM log_hour WHERE hour = substr({row}.at, 1, 13) AND n = 0;
  DELETE FROM log_location
  WHERE kind = {kind} AND hour = substr({row}.at, 1, 13) AND location_code = {location} AND n = 0;
"""  # noqa: S608 - names of our own
    cleanup = "" if sign > 0 else cleanup
    return f"""
CREATE TRIGGER log_{name} AFTER {event} ON log WHEN {row}.at <> '' BEGIN
  INSERT INTO log_hour SELECT substr({row}.at, 1, 13), k.kind, {row}.app_user_name, {sign}
    FROM (SELECT {kind} AS kind) k WHERE k.kind <> '' AND (k.kind <> 'move' OR {quantity} > 0)
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
  INSERT INTO log_location SELECT substr({row}.at, 1, 13), k.kind, {location}, {sign}
    FROM (SELECT {kind} AS kind) k WHERE k.kind <> '' AND {location} <> ''
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
{cleanup}
END;
"""  # noqa: S608 - names of our own


def _restore_undone(table: str) -> str:
    """Return the SQL that restores what only the deleted entry had undone."""
    return f"""
  UPDATE {table} SET is_undone = 0 WHERE is_undone = 1 AND key IN (
    SELECT key FROM {table} WHERE number_name = old.name AND number_name <> ''
    UNION SELECT key FROM {table} WHERE moment_name = old.name AND moment_name <> ''
  ) AND NOT EXISTS (SELECT 1 FROM log_undo b WHERE b.name IN (number_name, moment_name));
"""  # noqa: S608 - names of our own


LOG_TABLES = f"""
CREATE TABLE log (
  key TEXT PRIMARY KEY,
  at TEXT NOT NULL,
  product_number TEXT NOT NULL,
  app_user_name TEXT NOT NULL,
  text TEXT NOT NULL,
  raw TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX log_at ON log (at);
CREATE INDEX log_listed ON log (at, app_user_name, product_number) WHERE {IS_LISTED_SQL};
CREATE INDEX log_counted ON log (product_number, at) WHERE instr(raw, '"counted_quantity"');
CREATE INDEX log_late ON log (product_number, at) WHERE raw ->> 'source' = '{LATE_SOURCE}';
CREATE INDEX log_reason ON log (raw ->> 'reason_code', at) WHERE {HAS_REASON_SQL};
CREATE INDEX log_back ON log (at) WHERE instr(raw, '{UNDO_MARK}');
CREATE INDEX log_order ON log (raw ->> 'customer_order_number', at) WHERE instr(raw, '"customer_order_number"');
CREATE INDEX log_to_review ON log (at) WHERE {IS_TO_REVIEW_SQL};
CREATE INDEX log_review_of ON log (raw ->> 'reference', product_number) WHERE {WAS_TO_REVIEW_SQL};

CREATE TABLE log_undo (key TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX log_undo_name ON log_undo (name);
CREATE TABLE difference (
  key TEXT PRIMARY KEY,
  at TEXT NOT NULL,
  product_number TEXT NOT NULL,
  number_name TEXT NOT NULL,
  moment_name TEXT NOT NULL,
  size REAL NOT NULL,
  priced INTEGER NOT NULL,
  worth REAL NOT NULL,
  is_undone INTEGER NOT NULL DEFAULT 0,
  is_superseded INTEGER NOT NULL DEFAULT 0,
  is_settled INTEGER GENERATED ALWAYS AS (is_undone OR is_superseded)
) WITHOUT ROWID;
CREATE INDEX difference_list ON difference (worth DESC, size DESC, key) WHERE is_settled = 0;
CREATE INDEX difference_at ON difference (at) WHERE is_settled = 0 AND at <> '';
CREATE INDEX difference_product ON difference (product_number);
CREATE INDEX difference_number ON difference (number_name) WHERE number_name <> '';
CREATE INDEX difference_moment ON difference (moment_name) WHERE moment_name <> '';
CREATE INDEX difference_unpriced ON difference (product_number) WHERE priced = 0;
CREATE TABLE loss (
  key TEXT PRIMARY KEY,
  at TEXT NOT NULL,
  reason TEXT NOT NULL,
  quantity REAL NOT NULL,
  number_name TEXT NOT NULL,
  moment_name TEXT NOT NULL,
  is_undone INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX loss_at ON loss (at, reason, quantity) WHERE is_undone = 0;
CREATE INDEX loss_number ON loss (number_name) WHERE number_name <> '';
CREATE INDEX loss_moment ON loss (moment_name) WHERE moment_name <> '';
CREATE TABLE loss_reason (reason TEXT PRIMARY KEY, description TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER log_lost_out AFTER DELETE ON log WHEN instr(old.raw, '{REASON_MARK}') BEGIN
  DELETE FROM loss WHERE key = old.key;
END;
CREATE TRIGGER log_undo_out AFTER DELETE ON log_undo BEGIN{_restore_undone("difference")}{_restore_undone("loss")}END;
CREATE TRIGGER log_counted_out AFTER DELETE ON log WHEN instr(old.raw, '{COUNT_MARK}') BEGIN
  DELETE FROM difference WHERE key = old.key;
END;
CREATE TRIGGER log_undone_out AFTER DELETE ON log WHEN instr(old.raw, '{UNDO_MARK}') BEGIN
  DELETE FROM log_undo WHERE key = old.key;
END;
CREATE INDEX log_short ON log (at) WHERE raw ->> 'source' = 'short';
CREATE TABLE log_hour (
  hour TEXT NOT NULL,
  kind TEXT NOT NULL,
  app_user TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (hour, kind, app_user)
) WITHOUT ROWID;
CREATE TABLE log_tally (hour TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER log_more AFTER INSERT ON log BEGIN
  INSERT INTO log_tally VALUES (substr(new.at, 1, 13), 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER log_less AFTER DELETE ON log BEGIN
  UPDATE log_tally SET n = n - 1 WHERE hour = substr(old.at, 1, 13);
  DELETE FROM log_tally WHERE hour = substr(old.at, 1, 13) AND n = 0;
END;
CREATE TABLE log_location (
  hour TEXT NOT NULL,
  kind TEXT NOT NULL,
  location_code TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (kind, hour, location_code)
) WITHOUT ROWID;
{_sum_triggers("in", "INSERT", "new", 1)}
{_sum_triggers("out", "DELETE", "old", -1)}
"""  # noqa: S608 - conditions of our own


class LogRow(NamedTuple):
    """A log entry as stored.

    `at`: time of the event, ISO 8601 UTC, empty if unknown. `text`: normalised search text.
    """

    key: str
    at: str
    product_number: str
    app_user_name: str
    text: str
    raw: str
