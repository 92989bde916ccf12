"""What becomes of orders by what is on its way for them: which of them enter the list of open ones, leave it, or are
gone. Found out once for each, and again only when something of what is on its way for it counts that did not, or
when something else was read of it: others write all the time, and mostly an operation is but a step further.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from aisle.cache.order_overlay import Row, apply_to_order, is_included, is_line_complete
from aisle.cache.order_queries import ListChange, SortKey
from aisle.cache.overlaid_order import load_lines, parse_header
from aisle.cache.overlay_index import OverlayIndex, RecentCache
from aisle.cache.schema import ORDER_OPEN
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Json
from aisle.json_codec import to_text
from aisle.outbox.operation_record import CREATE_MOVEMENT, UPDATE_ORDER, Operation
from aisle.outbox.rebase import PICKED

MAX_KEPT_STATES = 500
"""Of so many orders what was found out is kept without a look whether something is still on its way for them."""
MAX_COUNTED_OPERATIONS = 500
"""Of so many operations it is kept what of them counts; of the others it is found out anew."""
ORDER_BATCH = 25
"""Orders whose operations are read at one go."""

_READ_ORDERS = """
SELECT o.order_number, o.state, o.pickup, o.sort, o.header_began, o.lines_began
FROM json_each(?) e JOIN orders o ON o.order_number = e.value
"""
"""Whoever reads an order's header or lines anew notes when that began."""

_STATE_FIELDS = ("is_active", "is_picked", "is_rejected")
_LINE_FIELDS = ("line_number", "quantity", PICKED, "moved_quantity", "is_picked")
"""What of an order says how it stands."""


OperationKeys = tuple[tuple[Any, ...], ...]


class OrderBase(NamedTuple):
    """An order as it was read, as far as that says how it stands."""

    cached: tuple[Any, ...]
    header: Row
    lines: list[Row]
    open_lines: frozenset[Json]
    """The numbers of its lines that still have to be picked; empty where it is not open."""

    @property
    def read_began(self) -> float | None:
        """When the read of its lines began; None where nobody knows them."""
        began: float | None = self.cached[-1]
        return began


class PendingOrderState(NamedTuple):
    """How one order stands, and what that was found out from."""

    base: OrderBase
    revision: int
    """Of what was on its way for it then (`Index.tick`)."""
    is_open: bool
    is_closed: bool
    """Rejected or finished."""


class PendingOrderStates:
    """Those of the orders with pending operations."""

    def __init__(self) -> None:
        self._states: dict[str, PendingOrderState] = {}
        self._operation_keys: RecentCache[str, OperationKeys] = RecentCache(MAX_COUNTED_OPERATIONS)
        """What of the operations counts (`_counts`), of those orders that were reckoned last."""
        self._pending_count = 0
        """Of how many of them something was on its way when that was looked at last."""
        self._version: int | None = None
        """That of the cache of which these are reckoned."""
        self._removed: set[str] = set()
        self._added: dict[str, SortKey] = {}

    def states_of(
        self, cache: apsw.Connection, pending: OverlayIndex, numbers: Iterable[str]
    ) -> dict[str, PendingOrderState]:
        """By number, of those of these orders that the cache knows and something is pending for."""
        wanted = [number for number in numbers if pending.may_contain(number)]
        found: dict[str, PendingOrderState] = {}
        for first in range(0, len(wanted), ORDER_BATCH):
            found |= self._states_of_batch(cache, pending, wanted[first : first + ORDER_BATCH])
        if len(self._states) > max(MAX_KEPT_STATES, 2 * self._pending_count):
            self._states = {number: each for number, each in self._states.items() if pending.may_contain(number)}
            self._pending_count = len(self._states)
        return found

    def _states_of_batch(
        self, cache: apsw.Connection, pending: OverlayIndex, numbers: Sequence[str]
    ) -> dict[str, PendingOrderState]:
        rows = {str(number): tuple(read) for number, *read in fetch(cache, _READ_ORDERS, to_text(numbers))}
        found = {
            number: known
            for number, read in rows.items()
            if (known := self._states.get(number))
            and (known.base.cached, known.revision) == (read, pending.revision(number))
        }
        anew = [number for number in rows if number not in found]
        pending.preload(anew)
        for number in anew:
            operations = pending.get(number)
            standing = self._compute_state(cache, number, rows[number], operations) if operations else None
            if standing is not None:  # known at once, as what it counts by is: the next one may break off
                found[number] = self._states[number] = standing._replace(revision=pending.revision(number))
        return found

    def _compute_state(
        self, cache: apsw.Connection, number: str, cached: tuple[Any, ...], operations: Sequence[Operation]
    ) -> PendingOrderState | None:
        """How it stands now, by what was known before; None where it is not there any more."""
        before = self._states.get(number)
        if before is not None and before.base.cached != cached:
            before = None
        base = before.base if before is not None else _load_base(cache, number, cached)
        if base is None:
            return None
        laid = [each for each in operations if not is_included(each, base.read_began)]
        counts = tuple(_operation_key(each) for each in laid)
        if before is not None and _are_same(self._operation_keys.get(number), counts):
            standing = before
        elif _is_surely_open(base, laid):
            standing = PendingOrderState(base, 0, is_open=True, is_closed=False)
        else:
            header, lines = dict(base.header), [dict(line) for line in base.lines]
            apply_to_order(header, lines, laid, base.read_began)
            is_gone = bool(header["is_rejected"] or not header["is_active"])
            standing = PendingOrderState(base, 0, not is_gone and not header["is_picked"], is_gone)
        self._operation_keys.put(number, counts, len(operations))
        return standing

    def list_change(self, cache: apsw.Connection, pending: OverlayIndex, version: int) -> ListChange:
        """What the pending operations do to the list of open orders; `version` is that of the cache. Of a cache that
        nobody has written to since, those are looked at alone that something else is on its way for."""
        touched = pending.changed_keys
        if touched is None or version != self._version:
            touched, self._removed, self._added = pending.possible_keys(), set(), {}
        pending.changed_keys, self._version = set(), None  # what breaks off below is reckoned anew
        for number in touched:
            self._removed.discard(number)
            self._added.pop(number, None)
        for number, standing in self.states_of(cache, pending, touched).items():
            state, pickup, sort, *_ = standing.base.cached
            if state == ORDER_OPEN and not standing.is_open:
                self._removed.add(number)
            elif state != ORDER_OPEN and standing.is_open:
                self._added[number] = (pickup, sort, number)
        self._version = version
        return frozenset(self._removed), sorted(self._added.values())


def _is_surely_open(base: OrderBase, operations: Iterable[Operation]) -> bool:
    """Whether it is open without a closer look: nobody says anything else of the order itself, and of its lines that
    still have to be picked one at least is none of theirs."""
    left = set(base.open_lines)
    for operation in operations if left else ():
        if operation.operation == UPDATE_ORDER:
            order = operation.body["orders"]
            if any(name in order for name in _STATE_FIELDS):
                return False
            left.difference_update(change["line_number"] for change in order.get("order_lines") or ())
        elif operation.operation == CREATE_MOVEMENT:
            ends = (item.get(side) or {} for item in operation.body for side in ("from_location", "to_location"))
            left.difference_update(end.get("customer_order_line_number") for end in ends)
        else:
            return False
    return bool(left)


def _operation_key(operation: Operation) -> tuple[Any, ...]:
    """What of an operation that lies over an order says how that stands, beside the order itself."""
    return operation.body, operation.first_sent_at is not None, operation.op_id


def _are_same(earlier: OperationKeys | None, current: OperationKeys) -> bool:
    """Bodies are the same where they are the same object: to compare them takes as long as to lay them over."""
    return (
        earlier is not None
        and len(earlier) == len(current)
        and all(then[0] is each[0] and then[1:] == each[1:] for then, each in zip(earlier, current, strict=True))
    )


def _load_base(cache: apsw.Connection, number: str, cached: tuple[Any, ...]) -> OrderBase | None:
    found = fetch_one(cache, "SELECT raw, pickup FROM orders WHERE order_number = ?", number)
    if found is None:
        return None
    header = parse_header(found[0], number, found[1])
    lines = [_line_fields(line) for line in (load_lines(cache, number) if cached[-1] is not None else ())]
    is_open = header["is_active"] and not (header["is_rejected"] or header["is_picked"])
    left = frozenset(line["line_number"] for line in lines if is_open and not is_line_complete(line))
    return OrderBase(cached, {"order_number": number, **{name: header[name] for name in _STATE_FIELDS}}, lines, left)


def _line_fields(line: Row) -> dict[str, Json]:
    return {name: line[name] for name in _LINE_FIELDS if name in line}
