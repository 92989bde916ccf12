"""What becomes of orders by what is on its way for them: which of them enter the list of open ones, leave it, or are
gone. Found out once for each, and again only when what is on its way for it has changed, or what was read of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from aisle.jobs.codec import to_text
from aisle.local.cache.schema import OPEN
from aisle.local.db import fetch
from aisle.local.outbox.operation import Operation
from aisle.local.reads.orders import Key, Pending, Shift, order_row
from aisle.tuples import NamedTuple

_READ = """
SELECT o.order_number, o.state, o.pickup, o.sort, o.header_began, o.lines_began
FROM json_each(?) e JOIN orders o ON o.order_number = e.value
"""
"""Whoever reads an order's header or lines anew notes when that began."""


class Standing(NamedTuple):
    """How one order stands, and what that was found out from."""

    read: tuple[Any, ...]
    operations: Sequence[Operation]
    is_open: bool
    is_gone: bool
    """Rejected or finished."""


class Standings:
    """Those of the orders with pending operations."""

    def __init__(self) -> None:
        self._known: dict[str, Standing] = {}

    def of(self, cache: apsw.Connection, pending: Pending) -> dict[str, Standing]:
        """By number, of those that the cache knows."""
        found = {}
        for number, *read in fetch(cache, _READ, to_text(list(pending))):
            before, operations = self._known.get(number), pending[number]
            if before is None or before.read != tuple(read) or before.operations != operations:
                before = _standing(cache, pending, number, tuple(read))
            found[str(number)] = before
        self._known = found
        return found

    def shift(self, cache: apsw.Connection, pending: Pending) -> Shift:
        """What the pending operations do to the list of open orders."""
        hidden: set[str] = set()
        extra: list[Key] = []
        for number, standing in self.of(cache, pending).items():
            state, pickup, sort, *_ = standing.read
            if state == OPEN and not standing.is_open:
                hidden.add(number)
            elif state != OPEN and standing.is_open:
                extra.append((pickup, sort, number))
        return frozenset(hidden), sorted(extra)


def _standing(cache: apsw.Connection, pending: Pending, number: str, read: tuple[Any, ...]) -> Standing:
    row = order_row(cache, pending, number)
    is_gone = bool(row and (row["is_rejected"] or not row["is_active"]))
    return Standing(read, pending[number], bool(row and not is_gone and not row["is_picked"]), is_gone)
