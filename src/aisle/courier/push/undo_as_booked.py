"""Undo of log entries as the service booked them: the terminal that undoes may not know yet what that was.

The undo waits behind the entry that it names, because both are in the lane of their product. Just before it is sent the
log is read, so that the undo reverses exactly what was booked, and nothing that somebody counted since.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import apsw

from aisle.cache.log_undo_queries import Booked, booked_for_undo
from aisle.cache.people_and_rights_queries import announces_features
from aisle.decimal_of_row import to_decimal
from aisle.operation_body_types import is_undo
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import CREATE_LOGS, Operation
from aisle.stored_messages import LATER_COUNT, StoredMessage, store_message

if TYPE_CHECKING:
    from aisle.operation_body_types import LogEntry


@dataclass(eq=False)
class UndoAsBooked:
    """Adaptation of undos to what the service booked."""

    read_log: Callable[[], Awaitable[None]]
    """Read of the new entries of the service's log into the cache. Raise ClientError."""
    outbox: OperationQueue
    cache: apsw.Connection
    outbox_db: apsw.Connection
    on_refused: Callable[[Operation, StoredMessage], None]
    on_changed: Callable[[], None]
    """Callback if an undo was changed, so that stock on screens changes."""

    async def adapt(self, op: Operation) -> Operation | None:
        """Return the operation with what it has to reverse; None if nothing is left to send.

        Entries that somebody counted since are refused with that reason. Raise ClientError.
        """
        entries: list[LogEntry] = op.body.get("storeproductlog") or [] if op.operation == CREATE_LOGS else []
        if op.sent_body is not None or not any(map(is_undo, entries)):
            return op
        await self.read_log()
        booked = [self._booked(op, entry) for entry in entries]
        counted = [(entry, each) for entry, each in zip(entries, booked, strict=True) if each.later_count is not None]
        remaining = [entry for entry, each in zip(entries, booked, strict=True) if each.later_count is None]
        takes_back_dates = announces_features(self.cache)
        left = [each for each in booked if each.later_count is None]
        adapted = list(_reversals(remaining, left, takes_back_dates=takes_back_dates))
        if adapted == entries:
            return op
        later_count = counted[-1][1].later_count if counted else None
        reason = store_message(LATER_COUNT, counted=later_count or Decimal(0))
        remaining_op = self.outbox.keep_entries(op.op_id, adapted, [entry for entry, _ in counted], reason)
        if counted:
            self.on_refused(op, reason)
        self.on_changed()
        return remaining_op

    def _booked(self, op: Operation, entry: LogEntry) -> Booked:
        if not is_undo(entry):
            return Booked(None)
        return booked_for_undo(self.cache, self.outbox_db, entry, op.app_user)


def _reversals(entries: list[LogEntry], booked: list[Booked], *, takes_back_dates: bool) -> Iterator[LogEntry]:
    """Yield the entries that reverse what was booked; one that the log does not have stays as it is.

    `takes_back_dates`: the service takes back the date of an undone count, even of one that changed no stock.
    """
    for entry, each in zip(entries, booked, strict=True):
        field = next((name for name in entry if name.startswith("stock_pool_")), "quantity")
        is_known = each.change is not None
        reversal: LogEntry = {**entry, field: -(each.change or 0)} if is_known else entry  # type: ignore[misc]  # a field of the entry
        if to_decimal(reversal.get(field)) or (takes_back_dates and (each.is_count or not is_known)):
            yield reversal
