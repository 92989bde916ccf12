"""Rings at the sessions: at those whom it concerns, and at each of them no more often than it can make use of.

Fifty sessions that all look at whatever any of them does are two and a half thousand looks a round: a host has to grow
with what its people do, not with its square. Whoever is rung for the first time in a while is rung at once; what
follows close behind comes together. Of many whom it concerns one is rung after the other: else all of them look in the
same moment, and whoever scans then waits for a processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aisle.courier.alarm import Alarm, Sleep
from aisle.courier.audience import Audience
from aisle.courier.topics import LOCATION
from aisle.local.cache.schema import MANY
from aisle.local.host.signals import WAITING, CourierSocket, topic_of
from aisle.tuples import NamedTuple

NAMED_S = 0.1
"""Between two rings at one session for what it shows by its name."""
WHOLE_S = 1.0
"""Between two rings for what is but one of many on its page."""
TURN_S = 0.004
"""So long the others wait for one session that looks; who waits for an answer himself waits for none of them."""


class _Held(NamedTuple):
    """What a session has still to be rung for."""

    topics: frozenset[str]
    due: float
    """Seconds since 1970."""


class Ringer:
    """The courier's way to the sessions. Without a socket nobody is there to hear it."""

    def __init__(self, socket: CourierSocket | None, clock: Callable[[], float], sleep: Sleep) -> None:
        self._socket = socket
        self._clock = clock
        self._alarm = Alarm(sleep)
        self._rung: dict[str, float] = {}
        """When each session was rung last."""
        self._held: dict[str, _Held] = {}
        self._audience = Audience()
        self._turn = 0.0
        """When the last one was rung that others waited for, or would have."""

    def tell(self, topics: Iterable[str]) -> None:
        """These have changed (see `local.host.signals`): rings where it is time, and keeps the rest until it is."""
        if self._socket is None:
            return
        told, now = set(topics), self._clock()
        self._follow()
        self._rung = {name: at for name, at in self._rung.items() if name in self._audience and 0 <= now - at < WHOLE_S}
        concerned = self._audience.concerned(told - {WAITING})
        for name in self._socket.take_waiting() if WAITING in told else ():
            if name in self._audience:
                concerned.setdefault(name, ([], False))[0].append(WAITING)
        for name, (found, named) in concerned.items():
            self._hold(name, found, now if name not in self._rung else self._due(name, named=named))
        self._ring(now)
        if self._held:
            self._alarm.ring()

    def _follow(self) -> None:
        """Notes what sessions show now, where that is not what they did; who is gone is rung no more."""
        assert self._socket is not None
        turned = self._socket.take_turned()
        shown = self._socket.shown() if turned else {}
        for name in turned:
            if name in shown:
                self._audience.show(name, shown[name])
            else:
                self._audience.leave(name)
                self._held.pop(name, None)

    def _due(self, name: str, *, named: bool) -> float:
        return self._rung[name] + (NAMED_S if named else WHOLE_S)

    def _hold(self, name: str, topics: Iterable[str], due: float) -> None:
        before = self._held.get(name, _Held(frozenset(), due))
        self._held[name] = _Held(before.topics.union(topics), min(before.due, due))

    def _ring(self, now: float) -> None:
        due = [name for name, held in self._held.items() if held.due <= now or held.due > now + WHOLE_S]
        for name in due:
            if WAITING in self._held[name].topics:
                self._ring_at(name, now)
        others = sorted((name for name in due if name in self._held), key=lambda name: self._held[name].due)
        if others and not self._turn <= now < self._turn + TURN_S:
            self._ring_at(others[0], now)
            self._turn = now

    def _ring_at(self, name: str, now: float) -> None:
        assert self._socket is not None
        self._socket.ring(name, self._held.pop(name).topics)
        self._rung[name] = now

    async def run(self) -> None:
        """Rings for ever for what was kept."""
        while True:
            now = self._clock()
            if self._socket is not None:
                self._ring(now)
            due = min((held.due for held in self._held.values()), default=None)
            turn = self._turn + TURN_S if self._turn <= now else now
            await self._alarm.wait(None if due is None else max(due, turn) - now)


def topics_of(topic: str, keys: Sequence[str]) -> list[str]:
    """What is told of these changes of one topic: each by its name, many as a whole."""
    return [topic_of(topic, key) for key in keys] if len(keys) <= MANY else [topic]


def places_of(rows: Iterable[Mapping[str, Any]], changed: Sequence[str]) -> list[str]:
    """The places where these products lie now, by their stock entries: whoever stands at one sees what has come there.

    interface: Store product stock entry.
    """
    if len(changed) > MANY:
        return []
    entries = [row.get("store_locations") for row in rows if str(row.get("product_number")) in changed]
    places = [place for entry in entries if isinstance(entry, list) for place in entry if isinstance(place, dict)]
    codes = {str(place.get("store_location_code") or "") for place in places}
    return sorted(topic_of(LOCATION, code) for code in codes if code)
