"""What was counted, lost and found today: the entries that this host has noted, and those of the service's log.

An entry of this host that the service's log has too is one row, with the service's figures. interface: Store product
log entry, Create store product logs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs import store_time
from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.store_time import utc
from aisle.local.cache.differences import name_of
from aisle.local.cache.schema_log import REASONED, TOLD, UNDONE
from aisle.local.db import fetch
from aisle.local.outbox.doubts import CONFIRMED, REFUSED, SETTLED, WORDS
from aisle.local.outbox.operation import Operation, as_operation
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import Result, loaded, window
from aisle.local.told import why_of_row
from aisle.undone import UNDO
from aisle.words import fold, kept

SIZE = 20
"""Rows of a window when nobody says how many."""

_NOTED = """
SELECT * FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at >= ?1 AND store = ?2
  AND (?3 = '' OR app_user = ?3 OR instr(body, ?4)) ORDER BY n
"""
"""Those of one person, or of all: an entry may name another one than who is signed in."""

_LOGGED = f"""
SELECT key, at, raw FROM log INDEXED BY log_told
WHERE at >= ? AND {TOLD} AND ? IN ('', app_user_name) AND ? IN ('', product_number)
"""  # noqa: S608 - conditions of our own
_BY_ID = "SELECT l.key, l.at, l.raw FROM json_each(?) e JOIN log l ON l.key = e.value WHERE l.at >= ?"

_BACK = f"SELECT key, at, raw FROM log INDEXED BY log_back WHERE at >= ? AND instr(raw, '{UNDONE}')"  # noqa: S608
_NOTED_BACK = f"""
SELECT * FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at >= ? AND instr(body, '{UNDONE}') ORDER BY n
"""  # noqa: S608 - a condition of our own

_CODES = f"""
WITH RECURSIVE told (code) AS (
  SELECT min(raw ->> 'reason_code') FROM log INDEXED BY log_reason WHERE {REASONED}
  UNION ALL
  SELECT (
    SELECT min(raw ->> 'reason_code') FROM log INDEXED BY log_reason WHERE {REASONED} AND raw ->> 'reason_code' > code
  ) FROM told WHERE code IS NOT NULL
)
SELECT code FROM told WHERE code IS NOT NULL
"""  # noqa: S608 - conditions of our own
_REASON = f"""
SELECT max(words), sum(quantity) > 0 FROM (
  SELECT raw ->> 'reason_code_description' AS words, raw ->> 'quantity' AS quantity
  FROM log INDEXED BY log_reason WHERE {REASONED} AND raw ->> 'reason_code' = ? ORDER BY at DESC LIMIT ?
)
"""  # noqa: S608 - conditions of our own
_HEARD = 50
"""So many of the youngest entries of a reason say what it is: a busy store has ten thousand of them."""


def reasons(cache: apsw.Connection) -> Result:
    """The reasons that the store's logs have named: code, description, and whether such entries add to the stock."""
    rows = []
    for (code,) in fetch(cache, _CODES):
        ((words, adds),) = fetch(cache, _REASON, code, _HEARD)
        if str(code).isdecimal():
            rows.append({"reason_code": int(code), "reason_code_description": str(words), "adds": bool(adds)})
    return list(rows), len(rows)


def count_log(cache: apsw.Connection, outbox: apsw.Connection, store: str, args: Mapping[str, Json]) -> Result:
    """A window on the day of `now` (ISO 8601), youngest first: of a `user`, of a product, with these words, or
    all; or the one with this `key`."""
    midnight = store_time.midnight(str(args["now"]))
    since = utc(midnight.isoformat())
    user, product = str(args.get("user") or ""), str(args.get("product_number") or "")
    noted = list(_noted(fetch(outbox, _NOTED, midnight.timestamp(), store, user, to_text(user))))
    found = fetch(cache, _LOGGED, since, user, product)
    found += fetch(cache, _BY_ID, to_text([row["id"] for row in noted if row["id"]]), since)
    logged = {str(key): as_logged(str(key), str(at), loaded(raw)) for key, at, raw in found}
    for row in noted:
        row["id"] = row["id"] or (_twin(row, logged) if row["word"] == CONFIRMED else "")
        if row["id"] in logged:
            logged[row["id"]] |= {"key": row["key"], "said": row["said"]}
    rows = [row for row in logged.values() if _is_told(row)]
    rows += [row for row in noted if row["id"] not in logged]
    gone = taken_back(cache, outbox, since)
    rows = [row for row in rows if args["key"] in (row["key"], row["id"])] if args.get("key") else rows
    wanted = _wanted(_named(cache, rows), args)
    wanted.sort(key=lambda row: (row["at"], row["key"]), reverse=True)
    first, size = window(args, SIZE)
    return [{**row, "undone": is_gone(row, gone)} for row in wanted[first : first + size]], len(wanted)


def taken_back(cache: apsw.Connection, outbox: apsw.Connection, since: str) -> set[str]:
    """What tells the entries that were taken back `since` then (ISO 8601 UTC), in the service's log or on this host."""
    rows = [as_logged(str(key), str(at), loaded(raw)) for key, at, raw in fetch(cache, _BACK, since)]
    return {back_of(row) for row in rows if takes_back(row)} | taken_back_here(outbox, since)


def taken_back_here(outbox: apsw.Connection, since: str) -> set[str]:
    """The same of this host alone: the service's log may not have it yet."""
    rows = _noted(fetch(outbox, _NOTED_BACK, datetime.fromisoformat(since).timestamp()))
    return {back_of(row) for row in rows if takes_back(row)}


def is_gone(row: Row, gone: set[str]) -> bool:
    """Whether another entry takes this one back, by its number or by its moment."""
    return not gone.isdisjoint({_name(row, row["id"]), _name(row, row["said"])} - {""})


def back_of(row: Row) -> str:
    """What tells the entry that this one takes back."""
    return _name(row, str(row["reference"])[len(UNDO) :])


def _name(row: Row, said: str) -> str:
    return name_of(row["product_number"], row["location_code"], row["app_user_name"], said)


def _twin(row: Row, logged: Mapping[str, Row]) -> str:
    """The entry of the service's log that says the same, for a service that does not number what it takes."""
    same = ["product_number", "location_code", "app_user_name", "counted_quantity"]
    same += [] if row["difference"] is None else ["difference"]
    for key, other in logged.items():
        if other["key"] == key and all(row[name] == other[name] for name in same):
            return key
    return ""


def takes_back(row: Row) -> bool:
    return str(row["reference"]).startswith(UNDO) and row["word"] not in (REFUSED, SETTLED)


def _is_told(row: Row) -> bool:
    """Whether an entry of the service's log is a count, a loss or a correction; no movement, receipt or shortage."""
    if row["source"] in ("short", "rejected"):
        return False
    reason, counted = row["reason_code"] is not None, row["counted_quantity"] is not None
    return counted or reason or takes_back(row)


def _wanted(rows: Iterable[Row], args: Mapping[str, Json]) -> list[Row]:
    user, product = str(args.get("user") or ""), str(args.get("product_number") or "")
    words = fold(str(args.get("search") or "")).split()
    return [
        row
        for row in rows
        if (not user or row["app_user_name"] == user)
        and (not product or row["product_number"] == product)
        and _has(kept(f"{row['description']} {row['product_number']} {row['location_code']}"), words)
    ]


def _has(text: str, words: list[str]) -> bool:
    return all(word in text for word in words)


def _named(cache: apsw.Connection, rows: list[Row]) -> list[Row]:
    numbers = to_text(sorted({row["product_number"] for row in rows}))
    names = dict(
        fetch(
            cache,
            "SELECT p.product_number, p.name FROM json_each(?) e JOIN product p ON p.product_number = e.value",
            numbers,
        )
    )
    for row in rows:
        row["description"] = names.get(row["product_number"]) or row["product_number"]
    return rows


def as_logged(key: str, at: str, raw: Row) -> Row:
    """An entry of the service's log."""
    counted = raw.get("counted_quantity")
    expected, quantity = raw.get("expected_quantity"), raw.get("quantity")
    pools = _pools(raw)
    difference = None if quantity is None else decimal(quantity)
    if counted is not None and expected is not None:
        difference = decimal(counted) - decimal(expected)
    elif difference is None and counted is None and pools:
        difference = sum(pools.values(), Decimal(0))
    pool = raw.get("stock_pool") or (next(iter(pools)) if len(pools) == 1 else 0)
    return {
        **_head(raw),
        "key": key,
        "id": key if not key.startswith("#") else "",
        "at": at,
        "said": at,
        "pool": int(decimal(pool)),
        "counted_quantity": None if counted is None else decimal(counted),
        "difference": difference,
        "reason": str(raw.get("reason_code_description") or ""),
        "source": str(raw.get("source") or ""),
        "word": CONFIRMED,
        "why": "",
    }


def _head(raw: Mapping[str, Any]) -> Row:
    return {
        "product_number": str(raw.get("product_number") or ""),
        "location_code": str(raw.get("location_code") or ""),
        "app_user_name": str(raw.get("app_user_name") or ""),
        "reference": str(raw.get("reference") or ""),
        "reason_code": raw.get("reason_code"),
    }


def _pools(raw: Mapping[str, Any]) -> dict[int, Decimal]:
    return {pool: decimal(raw[name]) for pool in range(1, 11) if raw.get(name := f"stock_pool_{pool}") is not None}


def _noted(rows: Iterable[tuple[Any, ...]]) -> Iterator[Row]:
    """The entries that this host has noted, with what became of their operation; goods that came in are no count."""
    for row in rows:
        operation = as_operation(row)
        if operation.superseded_by or operation.query.get("is_from_receipt"):
            continue
        ids = _ids(operation)
        for index, entry in enumerate(operation.body.get("storeproductlog") or ()):
            yield _entry(operation, index, entry, ids[index] if index < len(ids) else "")


def _difference(entry: Mapping[str, Any], counted: Decimal) -> Decimal | None:
    """What a count changes the stock by; None where nobody said how much there was."""
    expected = entry.get("expected_quantity")
    return None if expected is None else counted - decimal(expected)


def _ids(operation: Operation) -> list[str]:
    """The numbers that the service gave the entries, where it says so."""
    try:
        data = json.loads(operation.answer or "{}").get("data")
    except (ValueError, AttributeError):
        return []
    return [str(id_) for id_ in data] if isinstance(data, list) else []


def _entry(operation: Operation, index: int, entry: Mapping[str, Any], id_: str) -> Row:
    counting = bool(operation.query.get("is_counted_quantity"))
    pools = _pools(entry)
    quantity = (
        sum(pools.values(), Decimal(0)) if pools else decimal(entry.get("counted_quantity", entry.get("quantity")))
    )
    at = utc(str(entry.get("scanned_datetime") or operation.occurred_at))
    return {
        **_head(entry),
        "app_user_name": str(entry.get("app_user_name") or operation.app_user),
        "key": f"{operation.op_id}.{index}",
        "id": id_,
        "at": at,
        "said": at,
        "pool": next(iter(pools)) if len(pools) == 1 else 0,
        "counted_quantity": quantity if counting else None,
        "difference": _difference(entry, quantity) if counting else quantity,
        "reason": "",
        "source": str(entry.get("source") or ""),
        "word": WORDS[operation.state],
        "why": why_of_row(operation),
    }
