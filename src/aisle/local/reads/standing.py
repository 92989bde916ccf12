"""What becomes of orders by what is on its way for them: which of them enter the list of open ones, leave it, or are
gone. Found out once for each, and again only when something of what is on its way for it counts that did not, or
when something else was read of it: others write all the time, and mostly an operation is but a step further.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.cache.schema_orders import OPEN
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.operation import MOVEMENT, UPDATE, Operation
from aisle.local.outbox.rebase import PICKED
from aisle.local.reads.entries import Index
from aisle.local.reads.laid import header_of, lines_of
from aisle.local.reads.orders import Key, Shift
from aisle.local.reads.overlay import Row, is_full, is_in, lay_over
from aisle.local.reads.recent import Recent
from aisle.tuples import NamedTuple

REMEMBERED = 500
"""Of so many orders what was found out is kept without a look whether something is still on its way for them."""
COUNTED = 500
"""Of so many operations it is kept what of them counts; of the others it is found out anew."""
PART = 25
"""Orders whose operations are read at one go."""

_READ = """
SELECT o.order_number, o.state, o.pickup, o.sort, o.header_began, o.lines_began
FROM json_each(?) e JOIN orders o ON o.order_number = e.value
"""
"""Whoever reads an order's header or lines anew notes when that began."""

_HEADER = ("is_active", "is_picked", "is_rejected")
_LINE = ("line_number", "quantity", PICKED, "moved_quantity", "is_picked")
"""What of an order says how it stands."""


Counts = tuple[tuple[Any, ...], ...]


class Base(NamedTuple):
    """An order as it was read, as far as that says how it stands."""

    read: tuple[Any, ...]
    header: Row
    lines: list[Row]
    left: frozenset[Json]
    """The numbers of its lines that still have to be picked; empty where it is not open."""

    @property
    def began(self) -> float | None:
        """When the read of its lines began; None where nobody knows them."""
        began: float | None = self.read[-1]
        return began


class Standing(NamedTuple):
    """How one order stands, and what that was found out from."""

    base: Base
    tick: int
    """Of what was on its way for it then (`Index.tick`)."""
    is_open: bool
    is_gone: bool
    """Rejected or finished."""


class Standings:
    """Those of the orders with pending operations."""

    def __init__(self) -> None:
        self._known: dict[str, Standing] = {}
        self._counts: Recent[str, Counts] = Recent(COUNTED)
        """What of the operations counts (`_counts`), of those orders that were reckoned last."""
        self._waiting = 0
        """Of how many of them something was on its way when that was looked at last."""
        self._version: int | None = None
        """That of the cache of which these are reckoned."""
        self._hidden: set[str] = set()
        self._extra: dict[str, Key] = {}

    def of(self, cache: apsw.Connection, pending: Index, numbers: Iterable[str]) -> dict[str, Standing]:
        """By number, of those of these orders that the cache knows and something is pending for."""
        wanted = [number for number in numbers if pending.may_have(number)]
        found: dict[str, Standing] = {}
        for first in range(0, len(wanted), PART):
            found |= self._of(cache, pending, wanted[first : first + PART])
        if len(self._known) > max(REMEMBERED, 2 * self._waiting):
            self._known = {number: each for number, each in self._known.items() if pending.may_have(number)}
            self._waiting = len(self._known)
        return found

    def _of(self, cache: apsw.Connection, pending: Index, numbers: Sequence[str]) -> dict[str, Standing]:
        rows = {str(number): tuple(read) for number, *read in fetch(cache, _READ, to_text(numbers))}
        found = {
            number: known
            for number, read in rows.items()
            if (known := self._known.get(number)) and (known.base.read, known.tick) == (read, pending.tick(number))
        }
        anew = [number for number in rows if number not in found]
        pending.read_ahead(anew)
        for number in anew:
            operations = pending.get(number)
            standing = self._reckoned(cache, number, rows[number], operations) if operations else None
            if standing is not None:  # known at once, as what it counts by is: the next one may break off
                found[number] = self._known[number] = standing._replace(tick=pending.tick(number))
        return found

    def _reckoned(
        self, cache: apsw.Connection, number: str, read: tuple[Any, ...], operations: Sequence[Operation]
    ) -> Standing | None:
        """How it stands now, by what was known before; None where it is not there any more."""
        before = self._known.get(number)
        if before is not None and before.base.read != read:
            before = None
        base = before.base if before is not None else _base(cache, number, read)
        if base is None:
            return None
        laid = [each for each in operations if not is_in(each, base.began)]
        counts = tuple(_counts(each) for each in laid)
        if before is not None and _is_same(self._counts.get(number), counts):
            standing = before
        elif _stays_open(base, laid):
            standing = Standing(base, 0, is_open=True, is_gone=False)
        else:
            header, lines = dict(base.header), [dict(line) for line in base.lines]
            lay_over(header, lines, laid, base.began)
            is_gone = bool(header["is_rejected"] or not header["is_active"])
            standing = Standing(base, 0, not is_gone and not header["is_picked"], is_gone)
        self._counts.put(number, counts, len(operations))
        return standing

    def shift(self, cache: apsw.Connection, pending: Index, version: int) -> Shift:
        """What the pending operations do to the list of open orders; `version` is that of the cache. Of a cache that
        nobody has written to since, those are looked at alone that something else is on its way for."""
        touched = pending.touched
        if touched is None or version != self._version:
            touched, self._hidden, self._extra = pending.named(), set(), {}
        pending.touched, self._version = set(), None  # what breaks off below is reckoned anew
        for number in touched:
            self._hidden.discard(number)
            self._extra.pop(number, None)
        for number, standing in self.of(cache, pending, touched).items():
            state, pickup, sort, *_ = standing.base.read
            if state == OPEN and not standing.is_open:
                self._hidden.add(number)
            elif state != OPEN and standing.is_open:
                self._extra[number] = (pickup, sort, number)
        self._version = version
        return frozenset(self._hidden), sorted(self._extra.values())


def _stays_open(base: Base, operations: Iterable[Operation]) -> bool:
    """Whether it is open without a closer look: nobody says anything else of the order itself, and of its lines that
    still have to be picked one at least is none of theirs."""
    left = set(base.left)
    for operation in operations if left else ():
        if operation.operation == UPDATE:
            order = operation.body["orders"]
            if any(name in order for name in _HEADER):
                return False
            left.difference_update(change["line_number"] for change in order.get("order_lines") or ())
        elif operation.operation == MOVEMENT:
            ends = (item.get(side) or {} for item in operation.body for side in ("from_location", "to_location"))
            left.difference_update(end.get("customer_order_line_number") for end in ends)
        else:
            return False
    return bool(left)


def _counts(operation: Operation) -> tuple[Any, ...]:
    """What of an operation that lies over an order says how that stands, beside the order itself."""
    return operation.body, operation.first_sent_at is not None, operation.op_id


def _is_same(before: Counts | None, now: Counts) -> bool:
    """Bodies are the same where they are the same object: to compare them takes as long as to lay them over."""
    return (
        before is not None
        and len(before) == len(now)
        and all(then[0] is each[0] and then[1:] == each[1:] for then, each in zip(before, now, strict=True))
    )


def _base(cache: apsw.Connection, number: str, read: tuple[Any, ...]) -> Base | None:
    found = fetch_one(cache, "SELECT raw, pickup FROM orders WHERE order_number = ?", number)
    if found is None:
        return None
    header = header_of(found[0], number, found[1])
    lines = [_part(line) for line in (lines_of(cache, number) if read[-1] is not None else ())]
    is_open = header["is_active"] and not (header["is_rejected"] or header["is_picked"])
    left = frozenset(line["line_number"] for line in lines if is_open and not is_full(line))
    return Base(read, {"order_number": number, **{name: header[name] for name in _HEADER}}, lines, left)


def _part(line: Row) -> dict[str, Json]:
    return {name: line[name] for name in _LINE if name in line}
