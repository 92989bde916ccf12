"""Rows of log entries: those of the service's log, and those in the operations of this host.

interface: Store product log entry, Create store product logs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle.cache.parse_stored_row import Row
from aisle.cache.unconfirmed_operation_queries import OUTCOME_BY_STATE, OUTCOME_CONFIRMED
from aisle.decimal_of_row import to_decimal
from aisle.jobs.store_time import to_utc_text
from aisle.outbox.operation_record import Operation, operation_from_row
from aisle.outbox.stored_reasons import reason_of_operation

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import EntryRow

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
