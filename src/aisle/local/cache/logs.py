"""The store's log in the cache: the entries of the last days, as the service says them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from aisle.jobs.codec import to_text
from aisle.jobs.store_time import utc
from aisle.local.cache.differences import Logged, keep_told
from aisle.local.cache.rows import Raw, dumped, key, mapping, word
from aisle.local.cache.schema_log import UNDONE
from aisle.local.db import fetch
from aisle.local.host.home import short_hash
from aisle.tuples import NamedTuple
from aisle.words import kept

MOMENTS = ("moved_on", "created_on", "updated_on")
"""Fields with the time of an entry; the first one that says something stands."""

NUMBERS = ("id", "product_number", "customer_order_number", "reference")
"""Fields in which a number is a name."""


AT_ONCE = 2000
"""So many old entries at most are forgotten with one write, for nobody else writes meanwhile; the next ones forget the
rest."""

_FORGET = f"""
DELETE FROM log WHERE key IN (
  SELECT key FROM log WHERE at < ? AND (at < ? OR (raw ->> 'reason_code' IS NULL AND NOT instr(raw, '{UNDONE}')))
  ORDER BY at LIMIT ?
)
"""  # noqa: S608 - a condition of our own


class LogRow(NamedTuple):
    """One entry; `at` is the moment at which it happened, ISO 8601 UTC, empty where the service does not say; `text` is
    what is looked for in it, folded."""

    key: str
    at: str
    product_number: str
    app_user_name: str
    text: str
    raw: str


def log_row(given: object) -> LogRow:
    """interface: Store product log entry. One without an id is known by all that it says."""
    raw = mapping(given)
    text = dumped(raw)
    moment = _moment(raw)
    known = word(raw, "id") or f"#{short_hash(text.encode())}"
    return LogRow(known, moment, key(raw, "product_number"), word(raw, "app_user_name"), searched(raw), text)


def _moment(raw: Raw) -> str:
    return utc(next((said for name in MOMENTS if (said := word(raw, name))), ""))


def searched(raw: Raw) -> str:
    """The words and numbers by which people look for an entry; moments and quantities are none."""
    names = (name for name in raw if name in NUMBERS or (isinstance(raw[name], str) and not name.endswith("_on")))
    return kept(" ".join(word(raw, name) for name in names if name != "store_number"))


def write_logs(connection: apsw.Connection, rows: Sequence[LogRow], since: str, losses: str) -> tuple[str, ...]:
    """Puts entries in and forgets, in parts, what happened before `since`, of what has a reason what happened before
    `losses`; the keys of those that are new or changed."""
    known = dict(
        fetch(
            connection,
            "SELECT l.key, l.raw FROM json_each(?) e JOIN log l ON l.key = e.value",
            to_text([row.key for row in rows]),
        )
    )
    fresh = list({row.key: row for row in rows if known.get(row.key) != row.raw}.values())
    _replace(connection, fresh, [row.key for row in fresh if row.key in known])
    connection.execute(_FORGET, (since, min(since, losses), AT_ONCE))
    return tuple(row.key for row in fresh)


def _replace(connection: apsw.Connection, fresh: Sequence[LogRow], gone: Sequence[str]) -> None:
    """Sums are kept by triggers, and a row that is only replaced would leave none of what it was."""
    connection.executemany("DELETE FROM log WHERE key = ?", [(name,) for name in gone])
    connection.executemany(
        "INSERT INTO log (key, at, product_number, app_user_name, text, raw) VALUES (?, ?, ?, ?, ?, ?)",
        fresh,
    )
    keep_told(connection, (Logged(row.key, row.at, row.product_number, row.app_user_name, row.raw) for row in fresh))


_SAID = " WHEN ".join(f"raw ->> '{name}' <> '' THEN raw ->> '{name}'" for name in MOMENTS)
_ZONELESS = f"""
SELECT key, at, product_number, app_user_name, text, raw FROM (
  SELECT *, CASE WHEN {_SAID} END AS said FROM log
) WHERE said NOT LIKE '%Z' AND said NOT GLOB '*[+-][0-9][0-9]:[0-9][0-9]'
"""  # noqa: S608 - names of our own


def date_logs(connection: apsw.Connection) -> int:
    """Computes anew when entries happened whose time names no zone: it is one of the zone in which this process works;
    how many are different."""
    rows = (LogRow(*map(str, row)) for row in fetch(connection, _ZONELESS))
    changed = [row._replace(at=at) for row in rows if (at := _moment(json.loads(row.raw))) != row.at]
    _replace(connection, changed, [row.key for row in changed])
    return len(changed)
