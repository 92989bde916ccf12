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

from aisle.jobs.amounts import FARTHEST
from aisle.jobs.base import Json
from aisle.jobs.claim import is_later
from aisle.jobs.codec import to_text
from aisle.local.db import fetch, fetch_one, usable
from aisle.local.outbox.operation import REJECT_LINES, Operation
from aisle.local.outbox.rebase import BASE, PICKED, has_base, is_picked, rebased, share
from aisle.local.outbox.state import IN_DOUBT, NEEDS_PERSON, QUEUED
from aisle.local.reads.entries import ORDER, Entry, Index, Keys, Said

CLAIM = ("claimed_by", "claimed_name", "claimed_on", "claimed_terminal")
"""What our own service says of a claim beside `is_claimed`."""

Row = dict[str, Json]

_SAID = """n, op_id, parts, state, confirmed_at, first_sent_at, doubted_at,
  CASE WHEN state IN ('in_doubt', 'needs_person', 'done') THEN evidence END"""
"""The fields of `Said`."""

_PENDING = f"""
SELECT {_SAID} FROM operation WHERE n IN (SELECT n FROM operation WHERE live = 1 AND state <> 'rejected')
"""  # noqa: S608 - fields of our own

PART = 250
"""Operations that are read at one go."""
READ = 500
"""Operations that are kept as they were read; the others are read again when somebody asks for them."""
_THESE = "FROM operation WHERE n IN (SELECT value FROM json_each(?))"

_WRITTEN = f"""
SELECT written, live = 1 AND state <> 'rejected', {_SAID}
FROM (SELECT DISTINCT n AS written FROM turn WHERE turn > ?) LEFT JOIN operation ON n = written
"""  # noqa: S608 - fields of our own
"""In one look: others write between two, and what is written in the second alone would be none of the first."""

_TURNS = "SELECT (SELECT min(turn) FROM turn), (SELECT max(turn) FROM turn)"


def decimal(value: Any) -> Decimal:
    """A number of an answer, whatever it is written as; 0 for what is none, or beyond all reckoning."""
    if isinstance(value, Decimal):
        return value
    try:
        found = Decimal(str(value)) if value is not None and not isinstance(value, bool) else Decimal(0)
    except ArithmeticError:
        return Decimal(0)
    return found if found.is_finite() and -FARTHEST <= found.adjusted() <= FARTHEST else Decimal(0)


def is_full(line: Mapping[str, Json]) -> bool:
    """True when nothing of a line is left to be picked."""
    return bool(line.get("is_picked")) or decimal(line.get("picked_quantity")) >= decimal(line.get("quantity"))


class Overlay:
    """The pending operations of the outbox by what they change; looked for again only when the outbox changed, and
    then only those that were written since: others write to it all the time, and much may be waiting."""

    def __init__(self, outbox: apsw.Connection) -> None:
        self._db = outbox
        self._stamp: tuple[int, int] | None = None
        self._turn: int | None = None
        """All that was written up to this turn is known; None: nothing is."""
        self._known: dict[int, Entry] = {}
        """By their numbers."""
        self._indices: dict[Keys, Index] = {}
        self._lately: dict[int, Entry] = {}
        """Those that were read in full; what was asked for last comes last."""

    def data_version(self) -> int:
        """Changes when another connection has written to the outbox."""
        with usable(self._db.filename):
            row = fetch_one(self._db, "PRAGMA data_version")
        return int(row[0]) if row else 0

    def stamp(self) -> tuple[int, int]:
        """Changes when anybody has written to the outbox, this connection included."""
        return self.data_version(), self._db.total_changes()

    def orders(self) -> Index:
        """The pending operations of each order, oldest first."""
        return self.by(ORDER, orders_of)

    def operations(self, kind: str) -> Iterator[Operation]:
        """All pending ones of this operation of the interface, oldest first."""
        self.refresh()
        wanted = [self._known[n] for n in sorted(self._known) if self._known[n].kind == kind]
        for first in range(0, len(wanted), PART):
            part = wanted[first : first + PART]
            self.read(part)
            yield from [entry.operation for entry in part if entry.operation is not None]

    def by(self, field: str, keys_of: Keys) -> Index:
        """The pending operations by what they touch, which fields of that name hold."""
        if not self._known:  # what is read now is read with what it says
            self._indices.setdefault(keys_of, Index(field, keys_of, self))
        self.refresh()
        index = self._indices.get(keys_of)
        if index is None:
            index = Index(field, keys_of, self)
            index.put(list(self._known.values()))
            self._indices[keys_of] = index
        return index

    def refresh(self) -> None:
        """Brings all of it up to date."""
        stamp = self.stamp()
        if stamp != self._stamp:
            try:
                self._read()
            except BaseException:  # in the middle of it: what is known by now is no state that ever was
                self._known, self._indices, self._lately, self._turn = {}, {}, {}, None
                self._stamp = None
                raise
            self._stamp = None if self._db.in_transaction else stamp

    def _read(self) -> None:
        first, last = fetch(self._db, _TURNS)[0]
        since = self._turn
        # What is undone takes its turn back, for another write to have: nothing can be said of what comes after it.
        self._turn = None if self._db.in_transaction else last
        if since is None or last is None or not first - 1 <= since <= last:
            found = {row[0]: _said(*row) for row in self._db.execute(_PENDING)}
            self._learn(found, [n for n in self._known if n not in found])
        elif since < last:
            found, over = {}, []
            for n, is_pending, *said in fetch(self._db, _WRITTEN, since):
                if is_pending:
                    found[n] = _said(*said)
                elif n in self._known:
                    over.append(n)
            self._learn(found, over)

    def _learn(self, found: Mapping[int, Said], over: Iterable[int]) -> None:
        """What these say now, and that those are pending no more."""
        known = self._known
        changed = [n for n, said in found.items() if n not in known or known[n].said != said]
        anew = [n for n in changed if n not in known or _is_another(found[n], known[n].said)]
        for n in [*over, *(n for n in anew if n in known)]:
            entry = known.pop(n)
            self._lately.pop(n, None)
            for index in self._indices.values():
                index.drop(entry)
        for n in changed:
            if n in known:
                known[n].say(found[n])
                for index in self._indices.values():
                    index.renew(known[n])
        self._put(found, anew)

    def _put(self, found: Mapping[int, Said], anew: Sequence[int]) -> None:
        """These are pending, too. What they say is read for those that ask already."""
        for rows in self._rows("n, operation, body" if self._indices else "n, operation, ''", anew):
            entries = [Entry(intern(str(kind)), found[n]) for n, kind, _ in rows]
            self._known.update((entry.said.n, entry) for entry in entries)
            for index in self._indices.values():
                index.put(entries, [(n, str(body)) for n, _, body in rows])

    def bodies(self, entries: Sequence[Entry]) -> Iterator[tuple[int, str]]:
        """See `Source`."""
        for rows in self._rows("n, body", [entry.said.n for entry in entries]):
            yield from ((n, str(body)) for n, body in rows)

    def read(self, entries: Iterable[Entry]) -> None:
        """See `Source`. They may have moved on since they were looked for; the next look finds that.

        What leaves for it is none of what is asked for, however long ago that was read.
        """
        asked = {entry.said.n: entry for entry in entries}
        unread = [n for n, entry in asked.items() if entry.operation is None]
        for rows in self._rows("*", unread):
            for row in rows:
                asked[row[0]].read(row)
        for n in asked:
            self._lately.pop(n, None)
        self._lately |= asked
        while len(self._lately) > max(READ, len(asked)):
            self._lately.pop(next(iter(self._lately))).forget()

    def _rows(self, fields: str, numbers: Sequence[int]) -> Iterator[list[tuple[Any, ...]]]:
        """In parts: of much that waits no more lies in memory than is looked at just then."""
        for first in range(0, len(numbers), PART):
            yield fetch(self._db, f"SELECT {fields} {_THESE}", to_text(list(numbers[first : first + PART])))


def _said(n: int, op_id: str, parts: Any, state: str, *rest: Any) -> Said:
    return Said(n, op_id, parts, intern(state), *rest)


def _is_another(now: Said, before: Said) -> bool:
    """Whether its body may hold something else: what nobody knew to have arrived may be told again in other words, and
    be on its way already, or asked about once more; and what was rolled back leaves its number to another."""
    if now.state in (QUEUED, NEEDS_PERSON) or before.state in (IN_DOUBT, NEEDS_PERSON):
        return True
    if (now.op_id, now.parts, now.doubted_at) != (before.op_id, before.parts, before.doubted_at):
        return True
    return before.first_sent_at not in (None, now.first_sent_at)


def orders_of(operation: Operation) -> Iterator[str]:
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


def is_in(operation: Operation, began: float | None) -> bool:
    """Whether a read that began at this moment has brought what the operation did; None: nobody knows when."""
    if began is None:
        return False
    confirmed_at = None if _is_lost(operation) else operation.confirmed_at
    if confirmed_at is not None and confirmed_at < began:
        return True
    return any(confirmed < began <= anew for confirmed, anew in operation.was_in or ())


def _is_lost(operation: Operation) -> bool:
    """Whether the service does not have what it confirmed: it was put back from an earlier copy, and has not confirmed
    it again. What it may still have keeps the moment when it was first sent."""
    anew, sent = operation.replayed_at, operation.first_sent_at
    if anew is None or (operation.confirmed_at or 0.0) > anew:
        return False
    return sent is None or sent > anew


def may_be_in(operation: Operation, began: float | None) -> bool:
    """Whether a read that began at this moment may have brought what the operation did, and may not."""
    return operation.first_sent_at is not None and not is_in(operation, began)


def lay_over(header: Row, lines: list[Row], operations: Iterable[Operation], began: float | None) -> None:
    """Changes an order, in place, to what it will be when these operations are done.

    `began` is when the read began that brought its lines (None when they are not known): what was confirmed before then
    is in them already.
    """
    touched, by_number = False, {line["line_number"]: line for line in lines}
    for operation in operations:
        if is_in(operation, began):
            continue
        touched = True
        if operation.operation == "update-customer-order":
            _update(header, by_number, operation)
        elif operation.operation == REJECT_LINES:
            _reject_lines(lines, operation.body["lines"])
        else:
            for item in operation.body:
                _move(str(header["order_number"]), lines, item)
    if touched and lines:
        header["is_picked"] = bool(header.get("is_picked")) or all(is_full(line) for line in lines)


def _update(header: Row, lines: Mapping[Json, Row], operation: Operation) -> None:
    order = operation.body["orders"]
    header.update({name: value for name, value in order.items() if name not in ("order_lines", "is_claimed")})
    if "is_claimed" in order:
        _claim(header, operation, bool(order["is_claimed"]))
    added = False
    for change in order.get("order_lines") or ():
        line = lines.get(change["line_number"])
        if line is not None and has_base(change):
            _add(line, change, may_be_there=operation.first_sent_at is not None)
            added = True
        elif line is not None:
            line.update(change)
    if added:  # who sent it did not know what others do to its lines
        header["is_picked"] = all(is_full(line) for line in lines.values())


def _reject_lines(lines: list[Row], said: Iterable[Mapping[str, Json]]) -> None:
    """Nobody picks these any more, and what is picked of them goes back; or they are open again."""
    changes = {change["line_number"]: change for change in said}
    for line in lines:
        change = changes.get(line["line_number"])
        if change is not None:
            line.update(change)
            line["is_picked"] = change["is_rejected"]
            line[PICKED] = Decimal(0)


def _add(line: Row, change: Mapping[str, Json], *, may_be_there: bool) -> None:
    """A picker's share on top of what a line stands at; what may be in that already is not added once more."""
    stands, of = decimal(line.get(PICKED)), decimal(line.get("quantity"))
    now = rebased(change, stands, of, decimal(line.get("moved_quantity")))
    if may_be_there:
        said = decimal(change[PICKED])
        reached = max(stands, min(said, now.picked)) if share(change) > 0 else min(stands, max(said, now.picked))
        now = now._replace(picked=reached)
    line.update({name: value for name, value in change.items() if name != BASE})
    line[PICKED], line["is_picked"] = now.picked, is_picked(change, now, of)


def _claim(header: Row, operation: Operation, claimed: bool) -> None:
    """Whose the order is: the claim that was made last stands; who let go before it let go of another one."""
    if not claimed:
        same = (header.get("claimed_by"), header.get("claimed_terminal") or "") == (
            operation.app_user,
            operation.terminal,
        )
        if header.get("is_claimed") and not same and is_later(str(header.get("claimed_on")), operation.occurred_at):
            return
        header["is_claimed"] = False
        for name in CLAIM:
            header.pop(name, None)
    elif str(header.get("claimed_on") or "") <= operation.occurred_at:
        header["is_claimed"] = True
        header.pop("claimed_name", None)
        said = (operation.app_user, operation.occurred_at, operation.terminal)
        header.update(zip(("claimed_by", "claimed_on", "claimed_terminal"), said, strict=True))


def _move(order: str, lines: list[Row], item: Mapping[str, Json]) -> None:
    """Goods brought to a place for a line, or taken away from there. More than was picked is picked with it.

    What the line's own hand lays down was picked before: read back already and laid over once more, it does no harm.
    """
    quantity = decimal(item.get("quantity"))
    source = item.get("from_location") or {}
    for side, sign in (("from_location", -1), ("to_location", 1)):
        place = item.get(side) or {}
        if place.get("customer_order_number") != order or not place.get("location_code"):
            continue
        for line in lines:
            if line["line_number"] != place.get("customer_order_line_number"):
                continue
            _keep(line, str(place["location_code"]), sign * quantity)
            picked = decimal(line.get("picked_quantity"))
            moved = max(Decimal(0), decimal(line.get("moved_quantity")) + sign * quantity)
            if _is_in_hand(source, order, line["line_number"]):
                line["moved_quantity"] = min(picked, moved)
            else:
                line["moved_quantity"], line["picked_quantity"] = moved, max(picked, moved)


def _keep(line: Row, code: str, change: Decimal) -> None:
    """Where goods of the line are kept, as far as that was read."""
    kept = line.get("kept")
    if kept is None:
        return
    for entry in kept:
        if entry["location_code"] == code:
            entry["quantity"] = decimal(entry["quantity"]) + change
            return
    kept.append({"location_code": code, "quantity": change})


def _is_in_hand(end: Mapping[str, Json], order: str, line: Json) -> bool:
    """True for goods that are picked for a line and lie nowhere."""
    held_by = (end.get("customer_order_number"), end.get("customer_order_line_number"))
    return held_by == (order, line) and not end.get("location_code")
