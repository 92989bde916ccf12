"""When a list that could not be read is asked for again: soon, and then less and less often."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.courier.pull.wanted import again_s


class Gaps:
    """The lists that are missing, each with its next moment. All moments are seconds since 1970."""

    def __init__(self) -> None:
        self._tries: dict[str, int] = {}
        self._next: dict[str, float] = {}

    def take(self, missing: Iterable[str], now: float) -> tuple[str, ...]:
        """Those that are due; each is due again after a longer pause. One that is here again is forgotten."""
        self._next = {name: self._next.get(name, now + again_s(1)) for name in missing}
        self._tries = {name: self._tries.get(name, 1) for name in self._next}
        due = tuple(name for name, at in self._next.items() if at <= now)
        for name in due:
            self._tries[name] += 1
            self._next[name] = now + again_s(self._tries[name])
        return due
