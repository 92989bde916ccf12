"""Which of two reads is younger, so that a slow one never puts old rows over new ones.

A full sync and single reads run side by side. A page that was asked for before an order was read again must not bring
the order's old state back, because the overlay that hid it is gone by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Freshness:
    """Numbers reads in the order in which they began, and remembers what younger ones have brought."""

    def __init__(self) -> None:
        self._last = 0
        self._running: set[int] = set()
        self._brought: dict[tuple[str, str], int] = {}

    @property
    def contended(self) -> bool:
        """Whether more than one read is under way, so that rows have to be compared at all."""
        return len(self._running) > 1 or bool(self._brought)

    @contextmanager
    def reading(self) -> Iterator[int]:
        """One read, from before it is asked until its rows are in the cache; gives its number."""
        self._last += 1
        ticket = self._last
        self._running.add(ticket)
        try:
            yield ticket
        finally:
            self._running.discard(ticket)
            self._forget()

    def newest(self, ticket: int, topic: str, keys: Iterable[str]) -> set[str]:
        """Those of the keys that no younger read has brought yet; they count as brought by this one."""
        mine = {key for key in keys if self._brought.get((topic, key), 0) <= ticket}
        if self._running - {ticket}:
            self._brought.update(((topic, key), ticket) for key in mine)
        return mine

    def _forget(self) -> None:
        """What no running read could contradict is not remembered, so that memory stays flat."""
        oldest = min(self._running, default=None)
        if oldest is None:
            self._brought.clear()
        elif self._brought:
            self._brought = {key: ticket for key, ticket in self._brought.items() if ticket > oldest}
