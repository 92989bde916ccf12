"""What this host still has to tell the service, laid over what the service said last.

An effect leaves the overlay when a read that began after its confirmation is in the cache. Picked quantities are
absolute, or add up (see `rebase`) until they may have arrived: laid over twice they do no harm. Movements add up, so
they are laid over until then and not a moment longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from sys import intern
from typing import Any

import apsw

from aisle.cache.overlay_index import ORDER_FIELD, KeysOf, OperationStatus, OverlayIndex, PendingOperation
from aisle.host.database import fetch, fetch_one, storage_errors
from aisle.jobs.claims import is_later
from aisle.jobs.job import Json
from aisle.jobs.quantities import MAX_DIGITS
from aisle.json_codec import to_text
from aisle.outbox.operation_record import REJECT_LINES, Operation
from aisle.outbox.operation_state import IN_DOUBT, NEEDS_PERSON, QUEUED
from aisle.outbox.rebase import BASE, PICKED, has_base, is_picked, picked_change, rebase_line

CLAIM_FIELDS = ("claimed_by", "claimed_name", "claimed_on", "claimed_terminal")
"""What our own service says of a claim beside `is_claimed`."""

Row = dict[str, Json]

_STATUS_FIELDS = """n, op_id, parts, state, confirmed_at, first_sent_at, doubted_at,
  CASE WHEN state IN ('in_doubt', 'needs_person', 'done') THEN evidence END"""
"""The fields of `Said`."""

_PENDING_STATUS = f"""
SELECT {_STATUS_FIELDS} FROM operation WHERE n IN (SELECT n FROM operation WHERE live = 1 AND state <> 'rejected')
"""  # noqa: S608 - fields of our own

LOAD_BATCH = 250
"""Operations that are read at one go."""
MAX_LOADED = 500
"""Operations that are kept as they were read; the others are read again when somebody asks for them."""
_BY_NUMBER = "FROM operation WHERE n IN (SELECT value FROM json_each(?))"

_WRITTEN_SINCE = f"""
SELECT written, live = 1 AND state <> 'rejected', {_STATUS_FIELDS}
FROM (SELECT DISTINCT n AS written FROM turn WHERE turn > ?) LEFT JOIN operation ON n = written
"""  # noqa: S608 - fields of our own
"""In one look: others write between two, and what is written in the second alone would be none of the first."""

_WRITE_RANGE = "SELECT (SELECT min(turn) FROM turn), (SELECT max(turn) FROM turn)"


def to_decimal(value: Any) -> Decimal:
    """A number of an answer, whatever it is written as; 0 for what is none, or beyond all reckoning."""
    if isinstance(value, Decimal):
        return value
    try:
        found = Decimal(str(value)) if value is not None and not isinstance(value, bool) else Decimal(0)
    except ArithmeticError:
        return Decimal(0)
    return found if found.is_finite() and -MAX_DIGITS <= found.adjusted() <= MAX_DIGITS else Decimal(0)


def is_line_complete(line: Mapping[str, Json]) -> bool:
    """True when nothing of a line is left to be picked."""
    return bool(line.get("is_picked")) or to_decimal(line.get("picked_quantity")) >= to_decimal(line.get("quantity"))


class Overlay:
    """The pending operations of the outbox by what they change; looked for again only when the outbox changed, and
    then only those that were written since: others write to it all the time, and much may be waiting."""

    def __init__(self, outbox: apsw.Connection) -> None:
        self._db = outbox
        self._revision: tuple[int, int] | None = None
        self._last_write: int | None = None
        """All that was written up to this turn is known; None: nothing is."""
        self._pending: dict[int, PendingOperation] = {}
        """By their numbers."""
        self._indexes: dict[KeysOf, OverlayIndex] = {}
        self._loaded: dict[int, PendingOperation] = {}
        """Those that were read in full; what was asked for last comes last."""

    def data_version(self) -> int:
        """Changes when another connection has written to the outbox."""
        with storage_errors(self._db.filename):
            row = fetch_one(self._db, "PRAGMA data_version")
        return int(row[0]) if row else 0

    def revision(self) -> tuple[int, int]:
        """Changes when anybody has written to the outbox, this connection included."""
        return self.data_version(), self._db.total_changes()

    def by_order(self) -> OverlayIndex:
        """The pending operations of each order, oldest first."""
        return self.index_by(ORDER_FIELD, orders_of_operation)

    def operations(self, kind: str) -> Iterator[Operation]:
        """All pending ones of this operation of the interface, oldest first."""
        self.refresh()
        wanted = [self._pending[n] for n in sorted(self._pending) if self._pending[n].kind == kind]
        for first in range(0, len(wanted), LOAD_BATCH):
            part = wanted[first : first + LOAD_BATCH]
            self.load(part)
            yield from [entry.operation for entry in part if entry.operation is not None]

    def index_by(self, field: str, keys_of: KeysOf) -> OverlayIndex:
        """The pending operations by what they touch, which fields of that name hold."""
        if not self._pending:  # what is read now is read with what it says
            self._indexes.setdefault(keys_of, OverlayIndex(field, keys_of, self))
        self.refresh()
        index = self._indexes.get(keys_of)
        if index is None:
            index = OverlayIndex(field, keys_of, self)
            index.add(list(self._pending.values()))
            self._indexes[keys_of] = index
        return index

    def refresh(self) -> None:
        """Brings all of it up to date."""
        stamp = self.revision()
        if stamp != self._revision:
            try:
                self._read_changes()
            except BaseException:  # in the middle of it: what is known by now is no state that ever was
                self._pending, self._indexes, self._loaded, self._last_write = {}, {}, {}, None
                self._revision = None
                raise
            self._revision = None if self._db.in_transaction else stamp

    def _read_changes(self) -> None:
        first, last = fetch(self._db, _WRITE_RANGE)[0]
        since = self._last_write
        # What is undone takes its turn back, for another write to have: nothing can be said of what comes after it.
        self._last_write = None if self._db.in_transaction else last
        if since is None or last is None or not first - 1 <= since <= last:
            found = {row[0]: _status_from_row(*row) for row in self._db.execute(_PENDING_STATUS)}
            self._apply_changes(found, [n for n in self._pending if n not in found])
        elif since < last:
            found, over = {}, []
            for n, is_pending, *said in fetch(self._db, _WRITTEN_SINCE, since):
                if is_pending:
                    found[n] = _status_from_row(*said)
                elif n in self._pending:
                    over.append(n)
            self._apply_changes(found, over)

    def _apply_changes(self, statuses: Mapping[int, OperationStatus], finished: Iterable[int]) -> None:
        """What these say now, and that those are pending no more."""
        known = self._pending
        changed = [n for n, said in statuses.items() if n not in known or known[n].status != said]
        anew = [n for n in changed if n not in known or _may_have_other_body(statuses[n], known[n].status)]
        for n in [*finished, *(n for n in anew if n in known)]:
            entry = known.pop(n)
            self._loaded.pop(n, None)
            for index in self._indexes.values():
                index.remove(entry)
        for n in changed:
            if n in known:
                known[n].update_status(statuses[n])
                for index in self._indexes.values():
                    index.mark_changed(known[n])
        self._add_pending(statuses, anew)

    def _add_pending(self, statuses: Mapping[int, OperationStatus], numbers: Sequence[int]) -> None:
        """These are pending, too. What they say is read for those that ask already."""
        for rows in self._rows("n, operation, body" if self._indexes else "n, operation, ''", numbers):
            entries = [PendingOperation(intern(str(kind)), statuses[n]) for n, kind, _ in rows]
            self._pending.update((entry.status.number, entry) for entry in entries)
            for index in self._indexes.values():
                index.add(entries, [(n, str(body)) for n, _, body in rows])

    def bodies(self, entries: Sequence[PendingOperation]) -> Iterator[tuple[int, str]]:
        """See `Source`."""
        for rows in self._rows("n, body", [entry.status.number for entry in entries]):
            yield from ((n, str(body)) for n, body in rows)

    def load(self, entries: Iterable[PendingOperation]) -> None:
        """See `Source`. They may have moved on since they were looked for; the next look finds that.

        What leaves for it is none of what is asked for, however long ago that was read.
        """
        asked = {entry.status.number: entry for entry in entries}
        unread = [n for n, entry in asked.items() if entry.operation is None]
        for rows in self._rows("*", unread):
            for row in rows:
                asked[row[0]].load(row)
        for n in asked:
            self._loaded.pop(n, None)
        self._loaded |= asked
        while len(self._loaded) > max(MAX_LOADED, len(asked)):
            self._loaded.pop(next(iter(self._loaded))).unload()

    def _rows(self, fields: str, numbers: Sequence[int]) -> Iterator[list[tuple[Any, ...]]]:
        """In parts: of much that waits no more lies in memory than is looked at just then."""
        for first in range(0, len(numbers), LOAD_BATCH):
            yield fetch(self._db, f"SELECT {fields} {_BY_NUMBER}", to_text(list(numbers[first : first + LOAD_BATCH])))


def _status_from_row(n: int, op_id: str, parts: Any, state: str, *rest: Any) -> OperationStatus:
    return OperationStatus(n, op_id, parts, intern(state), *rest)


def _may_have_other_body(current: OperationStatus, earlier: OperationStatus) -> bool:
    """Whether its body may hold something else: what nobody knew to have arrived may be told again in other words, and
    be on its way already, or asked about once more; and what was rolled back leaves its number to another."""
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
    """The orders that an operation changes."""
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
    """Whether a read that began at this moment has brought what the operation did; None: nobody knows when."""
    if read_began is None:
        return False
    confirmed_at = None if _was_lost_by_restore(operation) else operation.confirmed_at
    if confirmed_at is not None and confirmed_at < read_began:
        return True
    return any(confirmed < read_began <= anew for confirmed, anew in operation.was_in or ())


def _was_lost_by_restore(operation: Operation) -> bool:
    """Whether the service does not have what it confirmed: it was put back from an earlier copy, and has not confirmed
    it again. What it may still have keeps the moment when it was first sent."""
    anew, sent = operation.replayed_at, operation.first_sent_at
    if anew is None or (operation.confirmed_at or 0.0) > anew:
        return False
    return sent is None or sent > anew


def may_be_included(operation: Operation, read_began: float | None) -> bool:
    """Whether a read that began at this moment may have brought what the operation did, and may not."""
    return operation.first_sent_at is not None and not is_included(operation, read_began)


def apply_to_order(header: Row, lines: list[Row], operations: Iterable[Operation], read_began: float | None) -> None:
    """Changes an order, in place, to what it will be when these operations are done.

    `began` is when the read began that brought its lines (None when they are not known): what was confirmed before then
    is in them already.
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
    if added:  # who sent it did not know what others do to its lines
        header["is_picked"] = all(is_line_complete(line) for line in lines.values())


def _apply_line_rejection(lines: list[Row], rejections: Iterable[Mapping[str, Json]]) -> None:
    """Nobody picks these any more, and what is picked of them goes back; or they are open again."""
    changes = {change["line_number"]: change for change in rejections}
    for line in lines:
        change = changes.get(line["line_number"])
        if change is not None:
            line.update(change)
            line["is_picked"] = change["is_rejected"]
            line[PICKED] = Decimal(0)


def _add_picked(line: Row, change: Mapping[str, Json], *, may_be_included: bool) -> None:
    """A picker's share on top of what a line stands at; what may be in that already is not added once more."""
    stands, of = to_decimal(line.get(PICKED)), to_decimal(line.get("quantity"))
    now = rebase_line(change, stands, of, to_decimal(line.get("moved_quantity")))
    if may_be_included:
        said = to_decimal(change[PICKED])
        reached = (
            max(stands, min(said, now.picked)) if picked_change(change) > 0 else min(stands, max(said, now.picked))
        )
        now = now._replace(picked=reached)
    line.update({name: value for name, value in change.items() if name != BASE})
    line[PICKED], line["is_picked"] = now.picked, is_picked(change, now, of)


def _apply_claim(header: Row, operation: Operation, is_claimed: bool) -> None:
    """Whose the order is: the claim that was made last stands; who let go before it let go of another one."""
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
        said = (operation.app_user, operation.occurred_at, operation.terminal)
        header.update(zip(("claimed_by", "claimed_on", "claimed_terminal"), said, strict=True))


def _apply_movement(order: str, lines: list[Row], item: Mapping[str, Json]) -> None:
    """Goods brought to a place for a line, or taken away from there. More than was picked is picked with it.

    What the line's own hand lays down was picked before: read back already and laid over once more, it does no harm.
    """
    quantity = to_decimal(item.get("quantity"))
    source = item.get("from_location") or {}
    for side, sign in (("from_location", -1), ("to_location", 1)):
        place = item.get(side) or {}
        if place.get("customer_order_number") != order or not place.get("location_code"):
            continue
        for line in lines:
            if line["line_number"] != place.get("customer_order_line_number"):
                continue
            _add_held(line, str(place["location_code"]), sign * quantity)
            picked = to_decimal(line.get("picked_quantity"))
            moved = max(Decimal(0), to_decimal(line.get("moved_quantity")) + sign * quantity)
            if _comes_from_hand(source, order, line["line_number"]):
                line["moved_quantity"] = min(picked, moved)
            else:
                line["moved_quantity"], line["picked_quantity"] = moved, max(picked, moved)


def _add_held(line: Row, code: str, change: Decimal) -> None:
    """Where goods of the line are kept, as far as that was read."""
    kept = line.get("kept")
    if kept is None:
        return
    for entry in kept:
        if entry["location_code"] == code:
            entry["quantity"] = to_decimal(entry["quantity"]) + change
            return
    kept.append({"location_code": code, "quantity": change})


def _comes_from_hand(end: Mapping[str, Json], order: str, line: Json) -> bool:
    """True for goods that are picked for a line and lie nowhere."""
    held_by = (end.get("customer_order_number"), end.get("customer_order_line_number"))
    return held_by == (order, line) and not end.get("location_code")
