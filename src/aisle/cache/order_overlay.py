"""Overlay of pending operations on cached rows, and its application to orders.

An operation leaves the overlay when the cache has a read that began after its confirmation. Picked quantities are
absolute, or are added up (see `rebase_picks`) until they may have arrived: applied twice they do no harm. Movements are
always added up, so they must be applied until then and not longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from sys import intern
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.overlay_index import ORDER_FIELD, KeysOf, OperationStatus, OverlayIndex, PendingOperation
from aisle.cache.stored_row_values import Row
from aisle.host.database import fetch, fetch_one, storage_errors
from aisle.jobs.claims import is_later
from aisle.jobs.job import Json
from aisle.jobs.quantities import to_decimal as to_decimal  # also for the courier, which imports no job
from aisle.json_codec import to_text
from aisle.outbox.operation_record import REJECT_LINES, Operation
from aisle.outbox.operation_state import IN_DOUBT, NEEDS_PERSON, QUEUED
from aisle.outbox.rebase_picks import BASE, PICKED, has_base, is_picked, picked_change, rebase_line

if TYPE_CHECKING:
    from aisle.operation_bodies import LineRejection, LineUpdate, MovementEnd, MovementEntry


CLAIM_FIELDS = ("claimed_by", "claimed_name", "claimed_on", "claimed_terminal")
"""Fields of a claim that our own service sends beside `is_claimed`."""


_STATUS_FIELDS = """n, op_id, parts, state, confirmed_at, first_sent_at, in_doubt_at,
  CASE WHEN state IN ('in_doubt', 'needs_person', 'done') THEN evidence END"""
"""Columns of `OperationStatus`."""

_PENDING_STATUS = f"""
SELECT {_STATUS_FIELDS} FROM operation WHERE n IN (SELECT n FROM operation WHERE live = 1 AND state <> 'rejected')
"""  # noqa: S608 - fields of our own

LOAD_BATCH = 250
"""Operations that are read at once."""
MAX_LOADED = 500
"""Greatest number of operations kept with their bodies; others are read again on demand."""
_BY_NUMBER = "FROM operation WHERE n IN (SELECT value FROM json_each(?))"

_WRITTEN_SINCE = f"""
SELECT written, live = 1 AND state <> 'rejected', {_STATUS_FIELDS}
FROM (SELECT DISTINCT n AS written FROM operation_change WHERE seq > ?) LEFT JOIN operation ON n = written
"""  # noqa: S608 - fields of our own
"""One statement, because others write in between: an operation written between two statements would be lost."""

_WRITE_RANGE = "SELECT (SELECT min(seq) FROM operation_change), (SELECT max(seq) FROM operation_change)"


def is_line_complete(line: Mapping[str, Json]) -> bool:
    """Return True if nothing of a line is left to pick."""
    return bool(line.get("is_picked")) or to_decimal(line.get("picked_quantity")) >= to_decimal(line.get("quantity"))


class Overlay:
    """Pending operations of the outbox, indexed by what they change.

    Only operations written since the last look are read again, because others write all the time and many may be
    pending.
    """

    def __init__(self, outbox: apsw.Connection) -> None:
        self._db = outbox
        self._revision: tuple[int, int] | None = None
        self._last_write: int | None = None
        """Last write that is applied; None if nothing was read yet."""
        self._pending: dict[int, PendingOperation] = {}
        """Pending operations by number."""
        self._indexes: dict[KeysOf, OverlayIndex] = {}
        self._loaded: dict[int, PendingOperation] = {}
        """Operations read with their bodies, the last used one last."""

    def data_version(self) -> int:
        """Return a number that changes when another connection has written to the outbox."""
        with storage_errors(self._db.filename):
            row = fetch_one(self._db, "PRAGMA data_version")
        return int(row[0]) if row else 0

    def revision(self) -> tuple[int, int]:
        """Return a value that changes when any connection, including this one, has written to the outbox."""
        return self.data_version(), self._db.total_changes()

    def by_order(self) -> OverlayIndex:
        """Return the index of pending operations by order, oldest first."""
        return self.index_by(ORDER_FIELD, orders_of_operation)

    def operations(self, kind: str) -> Iterator[Operation]:
        """Yield all pending operations of one kind of the interface, oldest first."""
        self.refresh()
        matching = [self._pending[n] for n in sorted(self._pending) if self._pending[n].kind == kind]
        for first in range(0, len(matching), LOAD_BATCH):
            part = matching[first : first + LOAD_BATCH]
            self.load(part)
            yield from [entry.operation for entry in part if entry.operation is not None]

    def index_by(self, field: str, keys_of: KeysOf) -> OverlayIndex:
        """Return the index of pending operations by the keys that `keys_of` yields, which are values of that field."""
        if not self._pending:  # an index made before the first read gets its operations with their bodies
            self._indexes.setdefault(keys_of, OverlayIndex(field, keys_of, self))
        self.refresh()
        index = self._indexes.get(keys_of)
        if index is None:
            index = OverlayIndex(field, keys_of, self)
            index.add(list(self._pending.values()))
            self._indexes[keys_of] = index
        return index

    def refresh(self) -> None:
        """Update the overlay from the outbox."""
        stamp = self.revision()
        if stamp != self._revision:
            try:
                self._read_changes()
            except BaseException:  # interrupted halfway: the state in memory is inconsistent
                self._pending, self._indexes, self._loaded, self._last_write = {}, {}, {}, None
                self._revision = None
                raise
            self._revision = None if self._db.in_transaction else stamp

    def _read_changes(self) -> None:
        first, last = fetch(self._db, _WRITE_RANGE)[0]
        since = self._last_write
        # A rollback frees its number for another write, so in a transaction nothing is known about later writes.
        self._last_write = None if self._db.in_transaction else last
        if since is None or last is None or not first - 1 <= since <= last:
            found = {row[0]: _status_from_row(*row) for row in self._db.execute(_PENDING_STATUS)}
            self._apply_changes(found, [n for n in self._pending if n not in found])
        elif since < last:
            found, finished = {}, []
            for n, is_pending, *status in fetch(self._db, _WRITTEN_SINCE, since):
                if is_pending:
                    found[n] = _status_from_row(*status)
                elif n in self._pending:
                    finished.append(n)
            self._apply_changes(found, finished)

    def _apply_changes(self, statuses: Mapping[int, OperationStatus], finished: Iterable[int]) -> None:
        """Apply changed statuses and remove operations that are no longer pending."""
        pending = self._pending
        changed = [n for n, status in statuses.items() if n not in pending or pending[n].status != status]
        reread = [n for n in changed if n not in pending or _may_have_other_body(statuses[n], pending[n].status)]
        for n in [*finished, *(n for n in reread if n in pending)]:
            entry = pending.pop(n)
            self._loaded.pop(n, None)
            for index in self._indexes.values():
                index.remove(entry)
        for n in changed:
            if n in pending:
                pending[n].update_status(statuses[n])
                for index in self._indexes.values():
                    index.mark_changed(pending[n])
        self._add_pending(statuses, reread)

    def _add_pending(self, statuses: Mapping[int, OperationStatus], numbers: Sequence[int]) -> None:
        """Add pending operations. Their bodies are read if an index exists already."""
        for rows in self._rows("n, operation, body" if self._indexes else "n, operation, ''", numbers):
            entries = [PendingOperation(intern(str(kind)), statuses[n]) for n, kind, _ in rows]
            self._pending.update((entry.status.number, entry) for entry in entries)
            for index in self._indexes.values():
                index.add(entries, [(n, str(body)) for n, _, body in rows])

    def bodies(self, entries: Sequence[PendingOperation]) -> Iterator[tuple[int, str]]:
        """Yield the bodies of these operations (see `OperationSource`)."""
        for rows in self._rows("n, body", [entry.status.number for entry in entries]):
            yield from ((n, str(body)) for n, body in rows)

    def load(self, entries: Iterable[PendingOperation]) -> None:
        """Read these operations with their bodies (see `OperationSource`). The next refresh sees later changes of them.

        Of the operations read before, those used longest ago are dropped beyond `MAX_LOADED`; never those asked for.
        """
        requested = {entry.status.number: entry for entry in entries}
        unread = [n for n, entry in requested.items() if entry.operation is None]
        for rows in self._rows("*", unread):
            for row in rows:
                requested[row[0]].load(row)
        for n in requested:
            self._loaded.pop(n, None)
        self._loaded |= requested
        while len(self._loaded) > max(MAX_LOADED, len(requested)):
            self._loaded.pop(next(iter(self._loaded))).unload()

    def _rows(self, fields: str, numbers: Sequence[int]) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows in batches, so that only one batch of many is in memory."""
        for first in range(0, len(numbers), LOAD_BATCH):
            yield fetch(self._db, f"SELECT {fields} {_BY_NUMBER}", to_text(list(numbers[first : first + LOAD_BATCH])))


def _status_from_row(n: int, op_id: str, parts: Any, state: str, *rest: Any) -> OperationStatus:
    return OperationStatus(n, op_id, parts, intern(state), *rest)


def _may_have_other_body(current: OperationStatus, earlier: OperationStatus) -> bool:
    """Return True if the body of an operation may have changed.

    An operation that is not known to have arrived may be rewritten, and may be sent or looked up again by now. A number
    that was rolled back is used again by another operation.
    """
    if current.state in (QUEUED, NEEDS_PERSON) or earlier.state in (IN_DOUBT, NEEDS_PERSON):
        return True
    if (current.op_id, current.remaining_entries, current.in_doubt_since) != (
        earlier.op_id,
        earlier.remaining_entries,
        earlier.in_doubt_since,
    ):
        return True
    return earlier.first_sent_at not in (None, current.first_sent_at)


def orders_of_operation(operation: Operation) -> Iterator[str]:
    """Yield the orders that an operation changes."""
    if operation.operation == "update-customer-order":
        yield str(operation.body["orders"]["order_number"])
    elif operation.operation == REJECT_LINES:
        yield str(operation.body["order_number"])
    elif operation.operation == "create-movement":
        for item in operation.body:
            for side in ("from_location", "to_location"):
                number = (item.get(side) or {}).get("customer_order_number")
                if number:
                    yield str(number)


def is_included(operation: Operation, read_began: float | None) -> bool:
    """Return True if a read that began at this moment includes the effect of the operation; None: unknown moment."""
    if read_began is None:
        return False
    confirmed_at = None if _was_lost_by_restore(operation) else operation.confirmed_at
    if confirmed_at is not None and confirmed_at < read_began:
        return True
    return any(confirmed < read_began <= replayed for confirmed, replayed in operation.read_intervals or ())


def _was_lost_by_restore(operation: Operation) -> bool:
    """Return True if the service was restored from an earlier copy, lost the operation, and has not confirmed it again.

    An operation that it may still have keeps the time at which it was first sent.
    """
    replayed, sent = operation.replayed_at, operation.first_sent_at
    if replayed is None or (operation.confirmed_at or 0.0) > replayed:
        return False
    return sent is None or sent > replayed


def may_be_included(operation: Operation, read_began: float | None) -> bool:
    """Return True if a read that began at this moment may or may not include the effect of the operation."""
    return operation.first_sent_at is not None and not is_included(operation, read_began)


def apply_to_order(header: Row, lines: list[Row], operations: Iterable[Operation], read_began: float | None) -> None:
    """Apply operations to an order, in place.

    `read_began`: time at which the read of its lines began, None if they are unknown. Operations confirmed before then
    are included already.
    """
    touched, by_number = False, {line["line_number"]: line for line in lines}
    for operation in operations:
        if is_included(operation, read_began):
            continue
        touched = True
        if operation.operation == "update-customer-order":
            _apply_update(header, by_number, operation)
        elif operation.operation == REJECT_LINES:
            _apply_line_rejection(lines, operation.body["lines"])
        else:
            for item in operation.body:
                _apply_movement(str(header["order_number"]), lines, item)
    if touched and lines:
        header["is_picked"] = bool(header.get("is_picked")) or all(is_line_complete(line) for line in lines)


def _apply_update(header: Row, lines: Mapping[Json, Row], operation: Operation) -> None:
    order = operation.body["orders"]
    header.update({name: value for name, value in order.items() if name not in ("order_lines", "is_claimed")})
    if "is_claimed" in order:
        _apply_claim(header, operation, bool(order["is_claimed"]))
    added = False
    for change in order.get("order_lines") or ():
        line = lines.get(change["line_number"])
        if line is not None and has_base(change):
            _add_picked(line, change, may_be_included=operation.first_sent_at is not None)
            added = True
        elif line is not None:
            line.update(change)
    if added:  # the sender did not know the picks of others on these lines
        header["is_picked"] = all(is_line_complete(line) for line in lines.values())


def _apply_line_rejection(lines: list[Row], rejections: Iterable[LineRejection]) -> None:
    """Reject lines or reopen them, in place. Picked goods of a rejected line go back."""
    changes = {change["line_number"]: change for change in rejections}
    for line in lines:
        change = changes.get(line["line_number"])
        if change is not None:
            line.update(change)
            line["is_picked"] = change["is_rejected"]
            line[PICKED] = Decimal(0)


def _add_picked(line: Row, change: LineUpdate, *, may_be_included: bool) -> None:
    """Add a picker's share to a line, in place; a share that may be included already is not added again."""
    picked, ordered = to_decimal(line.get(PICKED)), to_decimal(line.get("quantity"))
    now = rebase_line(change, picked, ordered, to_decimal(line.get("moved_quantity")))
    if may_be_included:
        stated = to_decimal(change[PICKED])
        reached = (
            max(picked, min(stated, now.picked)) if picked_change(change) > 0 else min(picked, max(stated, now.picked))
        )
        now = now._replace(picked=reached)
    line.update({name: value for name, value in change.items() if name != BASE})
    line[PICKED], line["is_picked"] = now.picked, is_picked(change, now, ordered)


def _apply_claim(header: Row, operation: Operation, is_claimed: bool) -> None:
    """Apply a claim or release, in place. The latest claim wins; a release before it released an earlier claim."""
    if not is_claimed:
        same = (header.get("claimed_by"), header.get("claimed_terminal") or "") == (
            operation.app_user,
            operation.terminal,
        )
        if header.get("is_claimed") and not same and is_later(str(header.get("claimed_on")), operation.occurred_at):
            return
        header["is_claimed"] = False
        for name in CLAIM_FIELDS:
            header.pop(name, None)
    elif str(header.get("claimed_on") or "") <= operation.occurred_at:
        header["is_claimed"] = True
        header.pop("claimed_name", None)
        claim = (operation.app_user, operation.occurred_at, operation.terminal)
        header.update(zip(("claimed_by", "claimed_on", "claimed_terminal"), claim, strict=True))


def _apply_movement(order: str, lines: list[Row], item: MovementEntry) -> None:
    """Apply a movement to a location of a line or away from it, in place.

    More than was picked is picked with it. Goods put down from the line's own hand were picked before; applying that
    again to a line that includes it does no harm.
    """
    quantity = to_decimal(item.get("quantity"))
    source: MovementEnd = item.get("from_location") or {}
    for end, sign in ((source, -1), (item.get("to_location"), 1)):
        if not end or end.get("customer_order_number") != order or not end.get("location_code"):
            continue
        for line in lines:
            if line["line_number"] != end.get("customer_order_line_number"):
                continue
            _add_held(line, str(end["location_code"]), sign * quantity)
            picked = to_decimal(line.get("picked_quantity"))
            moved = max(Decimal(0), to_decimal(line.get("moved_quantity")) + sign * quantity)
            if _comes_from_hand(source, order, line["line_number"]):
                line["moved_quantity"] = min(picked, moved)
            else:
                line["moved_quantity"], line["picked_quantity"] = moved, max(picked, moved)


def _add_held(line: Row, code: str, change: Decimal) -> None:
    """Change the quantity held for the line at a location, in place, if these quantities were read."""
    held = line.get("put_down")
    if held is None:
        return
    for entry in held:
        if entry["location_code"] == code:
            entry["quantity"] = to_decimal(entry["quantity"]) + change
            return
    held.append({"location_code": code, "quantity": change})


def _comes_from_hand(end: MovementEnd, order: str, line: Json) -> bool:
    """Return True for goods that are picked for a line and at no location."""
    held_by = (end.get("customer_order_number"), end.get("customer_order_line_number"))
    return held_by == (order, line) and not end.get("location_code")
