"""Writing of the store's log: entries, their differences, losses and undos, and counts that a later one supersedes.

The goods are a product at a location and in a pool, free or held for an order line. A service may get the later of two
counts first. Our own then takes back what the earlier one changes, by an entry of its own: it does not use that count.
The difference of a count that it has used stays, whoever counts later: each has changed the stock.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any, NamedTuple

import apsw

from aisle.cache.log_schema import COUNT_MARK, LATE_SOURCE, REASON_MARK, UNDO_MARK, LogRow
from aisle.cache.row_parsing_and_writing import (
    RawRow,
    changed_rows,
    difference_of_count,
    dump_row,
    encode_keys,
    entry_price,
    key_field,
    require_object,
    text_field,
)
from aisle.cache.stored_row_values import Row, parse_row, prices_of
from aisle.host.database import fetch
from aisle.host.store_and_database_folders import short_hash
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text
from aisle.operation_body_types import UNDO_PREFIX
from aisle.row_values import to_decimal
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

    Return the keys of new and changed entries. Those without a readable time and others too old are left out.
    """
    oldest = min(since, losses_since)
    fresh = changed_rows(connection, "log", [row for row in rows if row.at >= oldest])
    _replace_entries(connection, fresh, [row.key for row in fresh])
    connection.execute(_DELETE_OLD, (since, oldest, DELETE_BATCH))
    return tuple(row.key for row in fresh)


def _replace_entries(connection: apsw.Connection, new_rows: Sequence[LogRow], deleted_keys: Sequence[str]) -> None:
    """Delete and insert entries.

    Triggers keep the sums, and a plain replacement would not subtract old rows.
    """
    replaced = fetch(connection, _PRODUCTS_OF_ENTRIES, encode_keys(deleted_keys))
    connection.executemany("DELETE FROM log WHERE key = ?", [(name,) for name in deleted_keys])
    connection.executemany(
        "INSERT INTO log (key, at, product_number, app_user_name, text, raw) VALUES (?, ?, ?, ?, ?, ?)", new_rows
    )
    write_differences(connection, new_rows)
    update_superseded(connection, {row.product_number for row in new_rows}.union(str(each) for (each,) in replaced))


_PRODUCTS_OF_ENTRIES = "SELECT DISTINCT l.product_number FROM json_each(?) e JOIN log l ON l.key = e.value"

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


_WITH_DIFFERENCES = "SELECT value FROM json_each(?) WHERE value IN (SELECT product_number FROM difference)"
_UNDONE_NAMES = "SELECT name FROM log_undo WHERE name IN (SELECT value FROM json_each(?))"
_MARK_SUPERSEDED = """
UPDATE difference SET is_superseded = NOT is_superseded
WHERE product_number = ?1 AND is_superseded <> (key IN (SELECT value FROM json_each(?2)))
"""


def update_superseded(connection: apsw.Connection, products: Iterable[str]) -> None:
    """Mark the differences of these products whose counts the service does not use, and no others."""
    for (product,) in fetch(connection, _WITH_DIFFERENCES, encode_keys(products)):
        superseded = taken_back(connection, [each.key for each in standing_counts(connection, str(product))])
        connection.execute(_MARK_SUPERSEDED, (product, encode_keys(superseded)))


def standing_counts(connection: apsw.Connection, product: str) -> list[Count]:
    """Return the counts of a product in the log that are not undone."""
    entries = list(counts_of_product(connection, product))
    names = {
        key: _identities(LogRow(key, at, product, text_field(entry, "app_user_name"), "", ""), entry)[1:]
        for key, at, entry in entries
    }
    undone = {str(name) for (name,) in fetch(connection, _UNDONE_NAMES, encode_keys(chain(*names.values())))} - {""}
    return [count_of_entry(key, at, entry) for key, at, entry in entries if undone.isdisjoint(names[key])]


MAX_VALUE = Decimal(10) ** 15
"""Greatest value of one difference in the sum."""

_WITHOUT_OWN_PRICE = """
SELECT d.key, d.product_number, d.size FROM json_each(?) e
JOIN difference d ON d.product_number = e.value AND d.priced = 0
"""

_UNDOABLE_TABLES = ("difference", "loss")
"""Tables of entries that another entry may undo."""

_MARK_UNDONE = """
UPDATE {table} SET is_undone = 1 WHERE is_undone = 0 AND key IN (
  SELECT d.key FROM json_each(?1) e JOIN {table} d ON d.number_name = e.value AND d.number_name <> ''
  UNION SELECT d.key FROM json_each(?1) e JOIN {table} d ON d.moment_name = e.value AND d.moment_name <> ''
)
"""

_MARK_UNDONE_BEFORE = """
UPDATE {table} SET is_undone = 1 WHERE is_undone = 0 AND key IN (SELECT value FROM json_each(?))
AND EXISTS (SELECT 1 FROM log_undo b WHERE b.name IN (number_name, moment_name))
"""

LogEntries = Sequence[tuple[LogRow, RawRow]]
"""Entries, each with its parsed row."""


def entry_identity(product: str, location: str, user: str, number_or_moment: str) -> str:
    """Return the identity of an entry by its number or its time, as an undo refers to it; empty without either."""
    moment = to_utc_text(number_or_moment) if "T" in number_or_moment else ""
    return (
        "\n".join((moment, product, location.casefold(), user) if moment else (number_or_moment, product))
        if number_or_moment
        else ""
    )


def undone_identity(entry: RawRow, user: str) -> str:
    """Return the identity of the entry that this one undoes; empty if it undoes none."""
    reference = str(entry.get("reference") or "")
    if not reference.startswith(UNDO_PREFIX):
        return ""
    product, location = (str(entry.get(name) or "") for name in ("product_number", "location_code"))
    return entry_identity(product, location, user, reference[len(UNDO_PREFIX) :])


def write_differences(connection: apsw.Connection, rows: Iterable[LogRow]) -> None:
    """Write differences, losses and undos of new log entries. Triggers have deleted those of replaced entries."""
    relevant = [
        (row, json.loads(row.raw))
        for row in rows
        if any(word in row.raw for word in (COUNT_MARK, UNDO_MARK, REASON_MARK))
    ]
    undos = [
        (row.key, undone_entry)
        for row, entry in relevant
        if (undone_entry := undone_identity(entry, row.app_user_name))
    ]
    found, losses = list(_parse_differences(relevant)), list(_parse_losses(relevant))
    reason_texts = {
        code: reason_text
        for _, entry in relevant
        if (reason_text := _reason_text(entry)) and (code := _reason_code(entry)) is not None
    }
    many = connection.executemany
    many("INSERT OR REPLACE INTO log_undo (key, name) VALUES (?, ?)", undos)
    many(
        "INSERT INTO difference (key, number_name, moment_name, at, product_number, size, priced, worth)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        found,
    )
    many("INSERT INTO loss (key, number_name, moment_name, at, reason, quantity) VALUES (?, ?, ?, ?, ?, ?)", losses)
    many("INSERT OR REPLACE INTO loss_reason (reason, description) VALUES (?, ?)", reason_texts.items())
    for table, fresh in zip(_UNDOABLE_TABLES, (found, losses), strict=True):
        if undos:
            connection.execute(
                _MARK_UNDONE.format(table=table), (encode_keys(undone_entry for _, undone_entry in undos),)
            )
        if fresh:
            connection.execute(_MARK_UNDONE_BEFORE.format(table=table), (encode_keys(row[0] for row in fresh),))
    update_values(connection, {row[4] for row in found})


def _identities(row: LogRow, entry: RawRow) -> tuple[str, str, str]:
    """Return the key of an entry and its identities by number and by time."""
    location, user = str(entry.get("location_code") or ""), row.app_user_name
    id_ = "" if row.key.startswith("#") else row.key
    by_number, by_moment = (
        entry_identity(row.product_number, location, user, reference) for reference in (id_, row.at)
    )
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


def lost_quantity(entry: RawRow) -> Decimal:
    """Return the stock lost by an entry; a shortage of an order is no loss."""
    if str(entry.get("source") or "") == "short":
        return Decimal(0)
    counted, expected = entry.get("counted_quantity"), entry.get("expected_quantity")
    if counted is not None and expected is not None:
        return to_decimal(expected) - to_decimal(counted)
    return -to_decimal(entry.get("quantity"))


def _reason_code(entry: RawRow) -> str | None:
    code = entry.get("reason_code")
    return None if code is None else str(code)


def _reason_text(entry: RawRow) -> str:
    return str(entry.get("reason_code_description") or "")


def _value(quantity: Decimal | float, price: Any) -> float:
    return float(min(MAX_VALUE, abs(to_decimal(quantity) * to_decimal(price))))


def update_values(connection: apsw.Connection, products: Iterable[str]) -> None:
    """Update the value of the differences of these products to the current prices."""
    waiting = fetch(connection, "SELECT 1 FROM difference INDEXED BY difference_unpriced WHERE priced = 0 LIMIT 1")
    found = fetch(connection, _WITHOUT_OWN_PRICE, encode_keys(products)) if waiting else []
    if not found:
        return
    prices = prices_of(connection, {str(product) for _, product, _ in found})
    connection.executemany(
        "UPDATE difference SET worth = ?1 WHERE key = ?2 AND worth <> ?1",
        [(_value(size, prices.get(product) or 0), key) for key, product, size in found],
    )


_COUNTS_OF_PRODUCT = f"""
SELECT key, at, raw FROM log INDEXED BY log_counted
WHERE product_number = ? AND at > ? AND instr(raw, '{COUNT_MARK}') ORDER BY at
"""  # noqa: S608 - a word of our own

_TAKEN_BACK = f"""
SELECT c.key, c.raw, l.raw FROM json_each(?) e CROSS JOIN log c ON c.key = e.value
CROSS JOIN log l INDEXED BY log_at
ON l.at = c.at AND l.product_number = c.product_number AND l.raw ->> 'source' = '{LATE_SOURCE}' WHERE c.at <> ''
"""  # noqa: S608 - a word of our own

Goods = tuple[str, str, str, str]
"""Product, location in lower case, and order and line for which goods are held."""


class Count(NamedTuple):
    """A count of goods."""

    key: str
    goods: Goods
    pool: int
    """0 for any."""
    at: str
    """ISO 8601 UTC; empty if unknown."""


def count_of_entry(key: str, at: str, entry: Row) -> Count:
    """Return the count that a log entry states."""
    location = str(entry.get("location_code") or "").casefold()
    order, line = (str(entry.get(f"customer_order_{name}number") or "") for name in ("", "line_"))
    return Count(key, (str(entry.get("product_number") or ""), location, order, line), _pool_of(entry), at)


def _pool_of(entry: Row) -> int:
    pools = [pool for pool in range(1, 11) if entry.get(f"stock_pool_{pool}") is not None]
    named = entry.get("stock_pool") or entry.get("pool_location") or (pools[0] if len(pools) == 1 else 0)
    return int(to_decimal(named))


def counts_of_product(cache: apsw.Connection, product: str, after: str = "") -> Iterator[tuple[str, str, Row]]:
    """Yield key, time and row of the entries of a product after this time that state a count, oldest first."""
    for key, at, raw in fetch(cache, _COUNTS_OF_PRODUCT, product, after):
        entry = parse_row(raw)
        if entry.get("counted_quantity") is not None:
            yield str(key), str(at), entry


def taken_back(cache: apsw.Connection, keys: Iterable[str]) -> dict[str, Decimal]:
    """Return by key what our own service took back of these entries, because it had a later count; others are left out.

    If that count is undone, the service cancels it by an opposite entry: then it uses the earlier one.
    """
    sums: dict[str, Decimal] = {}
    for key, raw, late_raw in fetch(cache, _TAKEN_BACK, to_text(list(keys))):
        late = parse_row(late_raw)
        if is_same_goods(count_of_entry("", "", parse_row(raw)), count_of_entry("", "", late)):
            sums[str(key)] = sums.get(str(key), Decimal(0)) + to_decimal(late.get("quantity"))
    return {key: quantity for key, quantity in sums.items() if quantity}


def last_superseding(count: Count, standing: Iterable[Count]) -> Count | None:
    """Return the last of these counts if it supersedes a count; None without one."""
    later = [each for each in standing if each.at > count.at and is_same_goods(each, count)] if count.at else []
    return max(later, key=lambda each: each.at, default=None)


def is_same_goods(one: Count, other: Count) -> bool:
    """Return True if two counts are of the same goods."""
    return one.goods == other.goods and have_common_pool(one.pool, other.pool)


def have_common_pool(one: int, other: int) -> bool:
    """Return True if these are the same pool, or one of them is any pool (0)."""
    return not one or not other or one == other
