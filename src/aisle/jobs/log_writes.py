"""Writes of log entries: changes of stock, and counts. Interface: Create store product logs."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from aisle.jobs.job import Context, Write
from aisle.operation_body_types import UNDO_PREFIX

if TYPE_CHECKING:
    from aisle.operation_body_types import LogEntry

LOG_SOURCE = "aisle"
ENTRIES_PER_OPERATION = 20


def log_write(
    entries: list[LogEntry], products: Iterable[str], store: str, user: str, *, is_count: bool = False
) -> Write:
    """Return the operation for these log entries, in the lanes of their products."""
    lanes = tuple(sorted({f"product/{product}" for product in products}))
    query = {"appUserName": user, "is_counted_quantity": is_count}
    return Write("create-store-product-logs", lanes, {"store_number": store}, query, {"storeproductlog": entries})


def log_writes(entries: list[LogEntry], context: Context, *, is_count: bool = False) -> tuple[Write, ...]:
    """Return the operations for these log entries, each with a part of them."""
    parts = (entries[first : first + ENTRIES_PER_OPERATION] for first in range(0, len(entries), ENTRIES_PER_OPERATION))
    return tuple(
        log_write(part, [entry["product_number"] for entry in part], context.store, context.user, is_count=is_count)
        for part in parts
    )


def stock_change_entry(
    product: str, location: str, pool: int, quantity: Decimal, context: Context, *, undoes: str = ""
) -> LogEntry:
    """Return the log entry of a change of stock, in a pool or without one. It names the entry that it `undoes`, so that
    nothing is undone twice."""
    field = f"stock_pool_{pool}" if pool else "quantity"
    entry = new_log_entry(product, location, field, quantity, context.now, context.user)
    if undoes:
        entry["reference"] = UNDO_PREFIX + undoes
    return entry


def new_log_entry(product: str, location: str, field: str, quantity: Decimal, at: str, user: str) -> LogEntry:
    """Return a log entry with the quantity in this field."""
    entry: LogEntry = {"product_number": product, "scanned_datetime": at, "app_user_name": user, "source": LOG_SOURCE}
    entry.update(cast("LogEntry", {field: quantity}))
    if location:
        entry["location_code"] = location
    return entry
