"""Effect of pending operations on the list of open orders: which orders enter it, leave it, or are closed.

The state of an order is computed once, and again only if its operations or its cached row changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from aisle.cache.order_overlay import apply_to_order, is_line_complete
from aisle.cache.pending_operations import OverlayIndex, is_included
from aisle.cache.schema import ORDER_OPEN
from aisle.cache.stored_row_values import Row, load_lines, parse_header
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Json
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import CREATE_MOVEMENT, UPDATE_ORDER, Operation
from aisle.outbox.rebase_picks import PICKED

MAX_KEPT_STATES = 500
"""Number of kept states beyond which orders without pending operations are dropped."""
ORDER_BATCH = 25
"""Orders whose operations are read at once."""

_READ_ORDERS = """
SELECT o.order_number, o.state, o.pickup, o.sort, o.header_read_began, o.lines_read_began
FROM json_each(?) e JOIN orders o ON o.order_number = e.value
"""
"""Query for the cached state; every read of an order's header or lines updates the time of that read."""

_STATE_FIELDS = ("is_active", "is_picked", "is_rejected")
_LINE_FIELDS = ("line_number", "quantity", PICKED, "moved_quantity", "is_picked")
"""Fields of a line that determine its state."""


SortKey = tuple[str, str, str]
"""Sort key of the list: (pickup, sort, order_number)."""

ListChange = tuple[frozenset[str], list[SortKey]]
"""Change of the list by pending operations: orders that leave it, and sorted keys of those that enter it."""


class OrderBase(NamedTuple):
    """Cached data of an order that determine its state."""

    cached: tuple[Any, ...]
    header: Row
    lines: list[Row]
    open_lines: frozenset[Json]
    """Numbers of its unpicked lines; empty if the order is not open."""

    @property
    def read_began(self) -> float | None:
        """Time at which the read of its lines began; None if they are unknown."""
        began: float | None = self.cached[-1]
        return began


class PendingOrderState(NamedTuple):
    """State of one order, with the data it was computed from."""

    base: OrderBase
    revision: int
    """Revision of its pending operations at that time (`OverlayIndex.revision`)."""
    is_open: bool
    is_closed: bool
    """True if rejected or finished."""


class PendingOrderStates:
    """States of the orders with pending operations."""

    def __init__(self) -> None:
        self._states: dict[str, PendingOrderState] = {}
        self._pending_count = 0
        """Number of orders with pending operations at the last check."""
        self._version: int | None = None
        """Version of the cache that the computed list change belongs to."""
        self._removed: set[str] = set()
        self._added: dict[str, SortKey] = {}

    def states_of(
        self, cache: apsw.Connection, pending: OverlayIndex, numbers: Iterable[str]
    ) -> dict[str, PendingOrderState]:
        """Return by number the states of those of these orders that are cached and have pending operations."""
        pending_numbers = [number for number in numbers if pending.may_contain(number)]
        found: dict[str, PendingOrderState] = {}
        for first in range(0, len(pending_numbers), ORDER_BATCH):
            found |= self._states_of_batch(cache, pending, pending_numbers[first : first + ORDER_BATCH])
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
        outdated = [number for number in rows if number not in found]
        pending.preload(outdated)
        for number in outdated:
            operations = pending.get(number)
            state = self._compute_state(cache, number, rows[number], operations) if operations else None
            if state is not None:  # stored at once: the next order may raise
                found[number] = self._states[number] = state._replace(revision=pending.revision(number))
        return found

    def _compute_state(
        self, cache: apsw.Connection, number: str, cached: tuple[Any, ...], operations: Sequence[Operation]
    ) -> PendingOrderState | None:
        """Return the current state from the kept rows of the order; None if it is no longer cached."""
        before = self._states.get(number)
        if before is not None and before.base.cached != cached:
            before = None
        base = before.base if before is not None else _load_base(cache, number, cached)
        if base is None:
            return None
        relevant = [each for each in operations if not is_included(each, base.read_began)]
        if _is_surely_open(base, relevant):
            return PendingOrderState(base, 0, is_open=True, is_closed=False)
        header, lines = dict(base.header), [dict(line) for line in base.lines]
        apply_to_order(header, lines, relevant, base.read_began)
        is_gone = bool(header["is_rejected"] or not header["is_active"])
        return PendingOrderState(base, 0, not is_gone and not header["is_picked"], is_gone)

    def list_change(self, cache: apsw.Connection, pending: OverlayIndex, version: int) -> ListChange:
        """Return the change of the list of open orders by pending operations; `version` is that of the cache.

        If the cache has the same version as before, only orders with changed operations are computed.
        """
        touched = pending.changed_keys
        if touched is None or version != self._version:
            touched, self._removed, self._added = pending.possible_keys(), set(), {}
        pending.changed_keys, self._version = set(), None  # an exception below leads to a full computation next time
        for number in touched:
            self._removed.discard(number)
            self._added.pop(number, None)
        for number, order_state in self.states_of(cache, pending, touched).items():
            state, pickup, sort, *_ = order_state.base.cached
            if state == ORDER_OPEN and not order_state.is_open:
                self._removed.add(number)
            elif state != ORDER_OPEN and order_state.is_open:
                self._added[number] = (pickup, sort, number)
        self._version = version
        return frozenset(self._removed), sorted(self._added.values())


def _is_surely_open(base: OrderBase, operations: Iterable[Operation]) -> bool:
    """Return True if the order is certainly open.

    That is, no operation changes the order itself, and one unpicked line is untouched.
    """
    untouched = set(base.open_lines)
    for operation in operations if untouched else ():
        if operation.operation == UPDATE_ORDER:
            order = operation.body["orders"]
            if any(name in order for name in _STATE_FIELDS):
                return False
            untouched.difference_update(change["line_number"] for change in order.get("order_lines") or ())
        elif operation.operation == CREATE_MOVEMENT:
            ends = (item.get(side) or {} for item in operation.body for side in ("from_location", "to_location"))
            untouched.difference_update(end.get("customer_order_line_number") for end in ends)
        else:
            return False
    return bool(untouched)


def _load_base(cache: apsw.Connection, number: str, cached: tuple[Any, ...]) -> OrderBase | None:
    found = fetch_one(cache, "SELECT raw, pickup FROM orders WHERE order_number = ?", number)
    if found is None:
        return None
    header = parse_header(found[0], number, found[1])
    cached_lines = load_lines(cache, number) if cached[-1] is not None else []
    lines = [{name: line[name] for name in _LINE_FIELDS if name in line} for line in cached_lines]
    is_open = header["is_active"] and not (header["is_rejected"] or header["is_picked"])
    open_lines = frozenset(line["line_number"] for line in lines if is_open and not is_line_complete(line))
    return OrderBase(
        cached, {"order_number": number, **{name: header[name] for name in _STATE_FIELDS}}, lines, open_lines
    )
