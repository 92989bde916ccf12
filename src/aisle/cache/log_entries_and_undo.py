"""Entries of the service's log and of this host's operations as rows, and what undoes them.

interface: Store product log entry, Create store product logs.

An undo is an entry of its own whose `reference` names the entry that it undoes, by its number or its time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from aisle.cache.log_and_difference_writer import counts_of_product, entry_identity, have_common_pool, taken_back
from aisle.cache.log_schema import COUNT_MARK, LATE_SOURCE, UNDO_MARK
from aisle.cache.stored_row_values import Row, parse_row
from aisle.cache.unconfirmed_operation_queries import (
    OUTCOME_BY_STATE,
    OUTCOME_CONFIRMED,
    OUTCOME_REFUSED,
    OUTCOME_RESOLVED,
)
from aisle.host.database import fetch
from aisle.jobs.store_time import to_utc_text
from aisle.operation_body_types import UNDO_PREFIX
from aisle.outbox.operation_record import Operation, operation_from_row, reason_of_operation
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import EntryRow
    from aisle.operation_body_types import LogEntry

_MAX_DIGITS = 20
"""Most digits of an entry's number."""


def log_row(key: str, at: str, raw: Row) -> EntryRow:
    """Return the row of an entry of the service's log."""
    counted = raw.get("counted_quantity")
    expected, quantity = raw.get("expected_quantity"), raw.get("quantity")
    pools = _pool_quantities(raw)
    difference = None if quantity is None else to_decimal(quantity)
    if counted is not None and expected is not None:
        difference = to_decimal(counted) - to_decimal(expected)
    elif difference is None and counted is None and pools:
        difference = sum(pools.values(), Decimal(0))
    pool = raw.get("stock_pool") or (next(iter(pools)) if len(pools) == 1 else 0)
    return {
        "product_number": str(raw.get("product_number") or ""),
        "location_code": str(raw.get("location_code") or ""),
        "app_user_name": str(raw.get("app_user_name") or ""),
        "reference": str(raw.get("reference") or ""),
        "reason_code": raw.get("reason_code"),
        "key": key,
        "id": key if not key.startswith("#") else "",
        "at": at,
        "said": at,
        "pool": int(to_decimal(pool)),
        "counted_quantity": None if counted is None else to_decimal(counted),
        "difference": difference,
        "reason": str(raw.get("reason_code_description") or ""),
        "source": str(raw.get("source") or ""),
        "outcome": OUTCOME_CONFIRMED,
        "why": "",
    }


def _pool_quantities(raw: Row) -> dict[int, Decimal]:
    return {pool: to_decimal(raw[name]) for pool in range(1, 11) if raw.get(name := f"stock_pool_{pool}") is not None}


def local_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[EntryRow]:
    """Yield the entries of this host with the state of their operation; receipts are no counts and are left out."""
    for row in rows:
        operation = operation_from_row(row)
        if operation.superseded_by or operation.query.get("is_from_receipt"):
            continue
        ids = numbers_of_entries(operation.answer)
        for index, entry in enumerate(operation.body.get("storeproductlog") or ()):
            yield _local_entry(operation, index, entry, ids[index] if index < len(ids) else "")


def numbers_of_entries(answer: bytes | str) -> list[str]:
    """Return the numbers that the service gave the entries, empty for what is none; no list if it gave none."""
    try:
        data = json.loads(answer or "{}").get("data")
    except (ValueError, AttributeError, RecursionError):
        return []
    return [str(id_) if _is_entry_number(id_) else "" for id_ in data] if isinstance(data, list) else []


def _is_entry_number(value: object) -> bool:
    if isinstance(value, int):
        return 0 <= value < 10**_MAX_DIGITS and value is not True and value is not False
    return isinstance(value, str) and len(value) <= _MAX_DIGITS and value.isascii() and value.isdigit()


def _local_entry(operation: Operation, index: int, entry: Row, entry_number: str) -> EntryRow:
    counting = bool(operation.query.get("is_counted_quantity", "counted_quantity" in entry))
    pools = _pool_quantities(entry)
    quantity = (
        sum(pools.values(), Decimal(0)) if pools else to_decimal(entry.get("counted_quantity", entry.get("quantity")))
    )
    at, expected = (
        to_utc_text(str(entry.get("scanned_datetime") or operation.occurred_at)),
        entry.get("expected_quantity"),
    )
    change = None if expected is None else quantity - to_decimal(expected)
    return {
        "product_number": str(entry.get("product_number") or ""),
        "location_code": str(entry.get("location_code") or ""),
        "app_user_name": str(entry.get("app_user_name") or operation.app_user),
        "reference": str(entry.get("reference") or ""),
        "reason_code": entry.get("reason_code"),
        "key": f"{operation.op_id}.{index}",
        "id": entry_number,
        "at": at,
        "said": at,
        "pool": next(iter(pools)) if len(pools) == 1 else 0,
        "counted_quantity": quantity if counting else None,
        "difference": change if counting else quantity,
        "reason": "",
        "source": str(entry.get("source") or ""),
        "outcome": OUTCOME_BY_STATE[operation.state],
        "why": reason_of_operation(operation),
    }


_COUNT_BEFORE = f"""
SELECT key, raw ->> 'counted_quantity' FROM log INDEXED BY log_counted
WHERE product_number = ?1 AND at < ?2 AND instr(raw, '{COUNT_MARK}')
AND lower(ifnull(raw ->> 'location_code', '')) = lower(?3)
AND (?4 = 0 OR CAST(ifnull(raw ->> 'stock_pool', 0) AS INTEGER) IN (0, ?4))
AND ifnull(raw ->> 'customer_order_number', '') = '' ORDER BY at DESC LIMIT 1
"""  # noqa: S608 - a word of our own
"""The last count of these free goods before a time."""
_LATE_ENTRIES_BEFORE = f"""
SELECT key, at, raw FROM log INDEXED BY log_late
WHERE product_number = ? AND at < ? AND raw ->> 'source' = '{LATE_SOURCE}'
"""  # noqa: S608 - a word of our own
_COUNTS_BEFORE = """
SELECT key, at, raw FROM log INDEXED BY log_counted
WHERE product_number = ? AND at < ? AND instr(raw, '"counted_quantity"')
"""
_UNDO_ENTRIES = f"SELECT key, at, raw FROM log INDEXED BY log_back WHERE at >= ? AND instr(raw, '{UNDO_MARK}')"  # noqa: S608
_LOCAL_UNDO_ENTRIES = f"""
SELECT * FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at >= ? AND instr(body, '{UNDO_MARK}') ORDER BY n
"""  # noqa: S608 - a condition of our own
_LOCAL_ENTRIES_OF_MOMENT = """
SELECT * FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at >= ? AND instr(body, ?) ORDER BY n
"""
_ENTRIES_BY_NUMBER_OR_TIME = (
    "SELECT key, at, raw FROM log WHERE key = ?1 UNION SELECT key, at, raw FROM log WHERE at = ?2"
)


def undone_entries(cache: apsw.Connection, outbox: apsw.Connection, since: str) -> set[str]:
    """Return the identities of the entries undone `since` then (ISO 8601 UTC), in the service's log or on this host."""
    rows = [log_row(str(key), str(at), parse_row(raw)) for key, at, raw in fetch(cache, _UNDO_ENTRIES, since)]
    return {undone_identity_of(row) for row in rows if is_undo(row)} | undone_locally(outbox, since)


def undone_locally(outbox: apsw.Connection, since: str) -> set[str]:
    """Return the identities of the entries undone on this host, which the service's log may lack yet."""
    rows = local_rows(fetch(outbox, _LOCAL_UNDO_ENTRIES, datetime.fromisoformat(since).timestamp()))
    return {undone_identity_of(row) for row in rows if is_undo(row)}


def is_undone(row: EntryRow, undone: set[str]) -> bool:
    """Return True if another entry undoes this one, referring to its number or its time."""
    return not undone.isdisjoint({_identity(row, row["id"]), _identity(row, row["said"])} - {""})


def undone_identity_of(row: EntryRow) -> str:
    """Return the identity of the entry that this one undoes."""
    return _identity(row, str(row["reference"])[len(UNDO_PREFIX) :])


def _identity(row: EntryRow, number_or_moment: str) -> str:
    return entry_identity(row["product_number"], row["location_code"], row["app_user_name"], number_or_moment)


def is_undo(row: EntryRow) -> bool:
    return str(row["reference"]).startswith(UNDO_PREFIX) and row["outcome"] not in (OUTCOME_REFUSED, OUTCOME_RESOLVED)


def later_count(
    cache: apsw.Connection, row: EntryRow, undone: set[str], sent: Sequence[EntryRow] = ()
) -> Decimal | None:
    """Return the last count of the same goods that was made after an entry and stands; None without one.

    It may have reached the service before an earlier count, which then changes nothing. `sent`: see `count_after`.
    """
    return count_after(cache, row["product_number"], row["location_code"], row["pool"], row["at"], undone, sent)


def count_after(
    cache: apsw.Connection,
    product: str,
    location: str,
    pool: int,
    at: str,
    undone: set[str],
    sent: Sequence[EntryRow] = (),
) -> Decimal | None:
    """Return the last count of a product there that was made after this time and is not undone; None without one.

    `pool`: 0 for any; `sent`: entries of this host, which the log may lack yet. A count without location is one of the
    whole store.
    """
    found = last_count_after(cache, product, ("", location), pool, at, undone, sent)
    return found["counted_quantity"] if found else None


def last_count_after(
    cache: apsw.Connection,
    product: str,
    locations: Sequence[str],
    pool: int,
    at: str,
    undone: set[str],
    sent: Sequence[EntryRow] = (),
) -> EntryRow | None:
    """Return the last count of a product at these locations after this time that is not undone (see `count_after`)."""
    logged = _counts_in_log(cache, product, at)
    waiting = (row for row in sent if (row["product_number"], row["at"] > at) == (product, True) and _may_stand(row))
    codes = {location.casefold() for location in locations}
    standing = [
        row
        for row in (*logged, *waiting)
        if row["location_code"].casefold() in codes
        and have_common_pool(pool, row["pool"])
        and not is_undone(row, undone)
    ]
    return max(standing, key=lambda row: row["at"], default=None)


def _counts_in_log(cache: apsw.Connection, product: str, at: str) -> Iterator[EntryRow]:
    """Yield the counts of free stock of a product after this time."""
    for key, when, entry in counts_of_product(cache, product, at):
        if not entry.get("customer_order_number"):
            yield log_row(key, when, entry)


def _may_stand(row: EntryRow) -> bool:
    """Return True if an entry of this host is a count that was not refused."""
    return row["counted_quantity"] is not None and row["outcome"] not in (OUTCOME_REFUSED, OUTCOME_RESOLVED)


# What an undo has to reverse


class Booked(NamedTuple):
    """What the service booked for an entry that is to be undone."""

    change: Decimal | None
    """Change of stock; None if the log does not have the entry."""
    later_count: Decimal | None = None
    """Quantity of a later count of the same goods; None without one."""
    is_count: bool = False
    """True if the log has it as a count that the service uses, so that its undo takes back its date as well."""


def booked_for_undo(cache: apsw.Connection, outbox: apsw.Connection, undo: LogEntry, user: str) -> Booked:
    """Return what the service booked for the entry that `undo` names; nothing if this host's entry was refused.

    `user`: author of the operation, if the entry names nobody.
    """
    row = log_row("", "", {"app_user_name": user, **undo})
    moment = str(row["reference"])[len(UNDO_PREFIX) :]
    sent = [each for each in _entries_of_moment(outbox, moment) if _is_undone_by(each, row)]
    if sent and sent[0]["outcome"] in (OUTCOME_REFUSED, OUTCOME_RESOLVED):
        return Booked(Decimal(0))
    number = sent[0]["id"] if sent else moment
    logged = _logged_at(cache, number, moment)
    found = [each for each in logged if each["key"] == number or _is_undone_by(each, row)]
    if not found:
        return Booked(None)
    booked = found[0]
    undone = undone_entries(cache, outbox, booked["at"])
    cancelled = taken_back(cache, [booked["key"]]).get(booked["key"], Decimal(0))
    change = None if booked["difference"] is None else booked["difference"] + cancelled
    is_count = booked["counted_quantity"] is not None and not cancelled
    return Booked(change, later_count(cache, booked, undone), is_count)


def unused_count_before(cache: apsw.Connection, row: EntryRow) -> Decimal | None:
    """Return the count of the same goods before this one, if the service does not use it because of this one."""
    if row["counted_quantity"] is None:
        return None
    before = dict(fetch(cache, _COUNT_BEFORE, row["product_number"], row["at"], row["location_code"], row["pool"]))
    return next((to_decimal(before[key]) for key in taken_back(cache, before)), None)


def absorbed_by(cache: apsw.Connection, row: EntryRow, undone: set[str]) -> Decimal:
    """Return what the service took back of late messages because of a count; after its undo they change the stock.

    What counts before it absorbed stays so, and so do counts.
    """
    if row["counted_quantity"] is None:
        return Decimal(0)
    late = _same_goods_before(cache, _LATE_ENTRIES_BEFORE, row)
    counts = _same_goods_before(cache, _COUNTS_BEFORE, row) if late else []
    before = max((each["at"] for each in counts if not is_undone(each, undone)), default="")
    moments = {each["at"] for each in counts}
    absorbed = (each["difference"] for each in late if each["at"] >= before and each["at"] not in moments)
    return sum((each or Decimal(0) for each in absorbed), Decimal(0))


def _same_goods_before(cache: apsw.Connection, query: str, row: EntryRow) -> list[EntryRow]:
    """Return the entries of a query that are of the same goods and earlier."""
    found = fetch(cache, query, row["product_number"], row["at"])
    rows = (log_row(str(key), str(at), parse_row(raw)) for key, at, raw in found)
    place = row["location_code"].casefold()
    return [
        each
        for each in rows
        if each["location_code"].casefold() == place and have_common_pool(row["pool"], each["pool"])
    ]


def _entries_of_moment(outbox: apsw.Connection, moment: str) -> list[EntryRow]:
    """Return the entries of this host that state this time; none if it is the number of an entry."""
    if "T" not in moment:
        return []
    return list(local_rows(fetch(outbox, _LOCAL_ENTRIES_OF_MOMENT, _day_before(moment), moment)))


def _day_before(moment: str) -> float:
    """Return the time a day before: the clock of the host may have been set since."""
    return (datetime.fromisoformat(to_utc_text(moment)) - timedelta(days=1)).timestamp()


def _logged_at(cache: apsw.Connection, number: str, moment: str) -> list[EntryRow]:
    """Return the log's entries with this number or time."""
    rows = fetch(cache, _ENTRIES_BY_NUMBER_OR_TIME, number, to_utc_text(moment) if "T" in moment else "-")
    return [log_row(str(key), str(at), parse_row(raw)) for key, at, raw in rows]


def _is_undone_by(row: EntryRow, undo: EntryRow) -> bool:
    is_same_pool = have_common_pool(row["pool"], undo["pool"])
    return is_same_pool and not is_undo(row) and is_undone(row, {undone_identity_of(undo)})
