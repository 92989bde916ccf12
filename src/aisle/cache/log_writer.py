"""Counts that found something else than the books had, and losses, kept apart from the log with what each is worth: so
that no list of them looks at all that was logged.

Of counts those are kept that the service does not say were approved. `gone` are those that the log takes back itself;
what this host knows beyond the log lies over it (aisle.cache.exception_queries). interface: Store product log entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import apsw

from aisle.cache.field_parsing import RawRow, dump_row, key_field, require_object, text_field
from aisle.cache.log_schema import COUNT_MARK, REASON_MARK, UNDO_MARK
from aisle.cache.price import prices_of
from aisle.cache.product_writer import encode_keys
from aisle.host.database import fetch
from aisle.host.store_folder import short_hash
from aisle.jobs.quantities import to_decimal
from aisle.jobs.store_time import to_utc_text
from aisle.json_codec import to_text
from aisle.search_text import index_text
from aisle.undo_reference import UNDO_PREFIX

STATUS_REVIEWED = "2"
"""interface: review_status, in the numbers of our own service."""

MAX_VALUE = Decimal(10) ** 15
"""What one difference is worth at most in the sum."""

_WITHOUT_OWN_PRICE = """
SELECT d.key, d.product_number, d.size FROM json_each(?) e
JOIN difference d ON d.product_number = e.value AND d.priced = 0
"""
_UNDOABLE_TABLES = ("difference", "loss")
"""What is kept of entries that another one may take back."""

_MARK_UNDONE = """
UPDATE {table} SET gone = 1 WHERE gone = 0 AND key IN (
  SELECT d.key FROM json_each(?1) e JOIN {table} d ON d.number_name = e.value AND d.number_name <> ''
  UNION SELECT d.key FROM json_each(?1) e JOIN {table} d ON d.moment_name = e.value AND d.moment_name <> ''
)
"""
_MARK_UNDONE_BEFORE = """
UPDATE {table} SET gone = 1 WHERE gone = 0 AND key IN (SELECT value FROM json_each(?))
AND EXISTS (SELECT 1 FROM back b WHERE b.name IN (number_name, moment_name))
"""


class LogEntry(NamedTuple):
    """What is needed of an entry of the log."""

    key: str
    at: str
    product_number: str
    app_user_name: str
    raw: str


LogEntries = Sequence[tuple[LogEntry, Mapping[str, Any]]]
"""Entries, with all that they say."""


def difference_of_count(entry: Mapping[str, Any], user: str) -> Decimal | None:
    """How much more was counted than the books had; None where nobody has to look at it."""
    if entry.get("counted_quantity") is None or str(entry.get("review_status")) == STATUS_REVIEWED:
        return None
    counted, expected = to_decimal(entry["counted_quantity"]), entry.get("expected_quantity")
    difference = to_decimal(entry.get("quantity")) if expected is None else counted - to_decimal(expected)
    if not difference or (not user and expected is not None and not to_decimal(expected)):
        return None  # stock that came with a load of the store was counted by nobody
    return difference


def entry_price(entry: Mapping[str, Any]) -> Any:
    """The price that an entry has itself; None where it says none."""
    return next((entry[each] for each in ("store_products_price", "price") if entry.get(each)), None)


def entry_identity(product: str, location: str, user: str, number_or_moment: str) -> str:
    """What tells an entry from all others, by its number or by its moment, as one that takes it back says it; empty
    without either."""
    moment = to_utc_text(number_or_moment) if "T" in number_or_moment else ""
    return (
        "\n".join((moment, product, location.casefold(), user) if moment else (number_or_moment, product))
        if number_or_moment
        else ""
    )


def undone_identity(entry: Mapping[str, Any], user: str) -> str:
    """The name of the entry that this one takes back; empty where it takes none back."""
    reference = str(entry.get("reference") or "")
    if not reference.startswith(UNDO_PREFIX):
        return ""
    product, place = (str(entry.get(name) or "") for name in ("product_number", "location_code"))
    return entry_identity(product, place, user, reference[len(UNDO_PREFIX) :])


def write_differences(connection: apsw.Connection, rows: Iterable[LogEntry]) -> None:
    """Takes up what these entries, new in the log, say of differences and losses. What they said before went with
    them."""
    told = [
        (row, json.loads(row.raw))
        for row in rows
        if any(word in row.raw for word in (COUNT_MARK, UNDO_MARK, REASON_MARK))
    ]
    backs = [(row.key, back) for row, entry in told if (back := undone_identity(entry, row.app_user_name))]
    found, lost = list(_parse_differences(told)), list(_parse_losses(told))
    words = {
        code: said for _, entry in told if (said := _reason_text(entry)) and (code := _reason_code(entry)) is not None
    }
    many = connection.executemany
    many("INSERT OR REPLACE INTO back (key, name) VALUES (?, ?)", backs)
    many(
        "INSERT INTO difference (key, number_name, moment_name, at, product_number, size, priced, worth)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        found,
    )
    many("INSERT INTO loss (key, number_name, moment_name, at, reason, quantity) VALUES (?, ?, ?, ?, ?, ?)", lost)
    many("INSERT OR REPLACE INTO loss_reason (reason, words) VALUES (?, ?)", words.items())
    for table, fresh in zip(_UNDOABLE_TABLES, (found, lost), strict=True):
        if backs:
            connection.execute(_MARK_UNDONE.format(table=table), (encode_keys(back for _, back in backs),))
        if fresh:
            connection.execute(_MARK_UNDONE_BEFORE.format(table=table), (encode_keys(row[0] for row in fresh),))
    update_values(connection, {row[4] for row in found})


def _identities(row: LogEntry, entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """Its key, and what tells it from all others by its number and by its moment."""
    place, user = str(entry.get("location_code") or ""), row.app_user_name
    id_ = "" if row.key.startswith("#") else row.key
    by_number, by_moment = (entry_identity(row.product_number, place, user, said) for said in (id_, row.at))
    return row.key, by_number, by_moment


def _parse_differences(entries: LogEntries) -> Iterator[tuple[Any, ...]]:
    for row, entry in entries:
        difference = difference_of_count(entry, row.app_user_name)
        if difference is not None:
            price = entry_price(entry)
            worth, size = 0.0 if price is None else _value(difference, price), float(abs(difference))
            yield *_identities(row, entry), row.at, row.product_number, size, int(price is not None), worth


def _parse_losses(entries: LogEntries) -> Iterator[tuple[Any, ...]]:
    for row, entry in entries:
        code, lost = _reason_code(entry), lost_quantity(entry)
        if code is not None and lost > 0 and row.at:
            yield *_identities(row, entry), row.at, code, float(min(MAX_VALUE, lost))


def lost_quantity(entry: Mapping[str, Any]) -> Decimal:
    """How much less there is since an entry; a shortage of an order is no loss."""
    if str(entry.get("source") or "") == "short":
        return Decimal(0)
    counted, expected = entry.get("counted_quantity"), entry.get("expected_quantity")
    if counted is not None and expected is not None:
        return to_decimal(expected) - to_decimal(counted)
    return -to_decimal(entry.get("quantity"))


def _reason_code(entry: Mapping[str, Any]) -> str | None:
    code = entry.get("reason_code")
    return None if code is None else str(code)


def _reason_text(entry: Mapping[str, Any]) -> str:
    return str(entry.get("reason_code_description") or "")


def _value(quantity: Decimal | float, price: Any) -> float:
    return float(min(MAX_VALUE, abs(to_decimal(quantity) * to_decimal(price))))


def updated_values(connection: apsw.Connection, products: tuple[str, ...]) -> tuple[str, ...]:
    """These products, that changed or are gone: what differences of them are worth may have changed with them."""
    update_values(connection, products)
    return products


def update_values(connection: apsw.Connection, products: Iterable[str]) -> None:
    """Brings what differences of these products are worth to what they cost now."""
    waiting = fetch(connection, "SELECT 1 FROM difference INDEXED BY difference_unpriced WHERE priced = 0 LIMIT 1")
    found = fetch(connection, _WITHOUT_OWN_PRICE, encode_keys(products)) if waiting else []
    if not found:
        return
    prices = prices_of(connection, {str(product) for _, product, _ in found})
    connection.executemany(
        "UPDATE difference SET worth = ?1 WHERE key = ?2 AND worth <> ?1",
        [(_value(size, prices.get(product) or 0), key) for key, product, size in found],
    )


TIME_FIELDS = ("moved_on", "created_on", "updated_on")
"""Fields with the time of an entry; the first one that says something stands."""

NUMBER_FIELDS = ("id", "product_number", "customer_order_number", "reference")
"""Fields in which a number is a name."""


DELETE_BATCH = 2000
"""So many old entries at most are forgotten with one write, for nobody else writes meanwhile; the next ones forget the
rest."""

_DELETE_OLD = f"""
DELETE FROM log WHERE key IN (
  SELECT key FROM log WHERE at < ? AND (at < ? OR (raw ->> 'reason_code' IS NULL AND NOT instr(raw, '{UNDO_MARK}')))
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


def parse_log_entry(service_row: object) -> LogRow:
    """interface: Store product log entry. One without an id is known by all that it says."""
    raw = require_object(service_row)
    text = dump_row(raw)
    moment = _entry_time(raw)
    known = text_field(raw, "id") or f"#{short_hash(text.encode())}"
    return LogRow(
        known, moment, key_field(raw, "product_number"), text_field(raw, "app_user_name"), entry_index_text(raw), text
    )


def _entry_time(raw: RawRow) -> str:
    return to_utc_text(next((said for name in TIME_FIELDS if (said := text_field(raw, name))), ""))


def entry_index_text(raw: RawRow) -> str:
    """The words and numbers by which people look for an entry; moments and quantities are none."""
    names = (name for name in raw if name in NUMBER_FIELDS or (isinstance(raw[name], str) and not name.endswith("_on")))
    return index_text(" ".join(text_field(raw, name) for name in names if name != "store_number"))


def write_logs(connection: apsw.Connection, rows: Sequence[LogRow], since: str, losses_since: str) -> tuple[str, ...]:
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
    _replace_entries(connection, fresh, [row.key for row in fresh if row.key in known])
    connection.execute(_DELETE_OLD, (since, min(since, losses_since), DELETE_BATCH))
    return tuple(row.key for row in fresh)


def _replace_entries(connection: apsw.Connection, new_rows: Sequence[LogRow], deleted_keys: Sequence[str]) -> None:
    """Sums are kept by triggers, and a row that is only replaced would leave none of what it was."""
    connection.executemany("DELETE FROM log WHERE key = ?", [(name,) for name in deleted_keys])
    connection.executemany(
        "INSERT INTO log (key, at, product_number, app_user_name, text, raw) VALUES (?, ?, ?, ?, ?, ?)",
        new_rows,
    )
    write_differences(
        connection, (LogEntry(row.key, row.at, row.product_number, row.app_user_name, row.raw) for row in new_rows)
    )


_FIRST_TIME_SQL = " WHEN ".join(f"raw ->> '{name}' <> '' THEN raw ->> '{name}'" for name in TIME_FIELDS)
_WITHOUT_ZONE = f"""
SELECT key, at, product_number, app_user_name, text, raw FROM (
  SELECT *, CASE WHEN {_FIRST_TIME_SQL} END AS said FROM log
) WHERE said NOT LIKE '%Z' AND said NOT GLOB '*[+-][0-9][0-9]:[0-9][0-9]'
"""  # noqa: S608 - names of our own


def recompute_log_times(connection: apsw.Connection) -> int:
    """Computes anew when entries happened whose time names no zone: it is one of the zone in which this process works;
    how many are different."""
    rows = (LogRow(*map(str, row)) for row in fetch(connection, _WITHOUT_ZONE))
    changed = [row._replace(at=at) for row in rows if (at := _entry_time(json.loads(row.raw))) != row.at]
    _replace_entries(connection, changed, [row.key for row in changed])
    return len(changed)
