"""Notification of sessions: topics, what an operation may have changed, subscriptions, and their pace.

Subscriptions are indexed by topic, so a change does not look at every session. The result is the same as that of
`aisle.host.notify_sockets.matching_topics`.

Pull and push share the topics. Topics of the changes that a service lists: `pull/change_feed`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aisle.cache.schema import MAX_KEYED_CHANGES
from aisle.client.paging import Row
from aisle.courier.pauses_and_wake_event import Sleep, WakeEvent
from aisle.host.notify_sockets import ANYTHING, LINK, SYNC, WAITING, CourierSocket, format_topic
from aisle.outbox.operation_record import CREATE_MOVEMENT, REVIEW_LOGS, WRITE_RECOUNTS, Operation

ShownTopics = frozenset[str] | None
"""Topics that a session shows; None if they are unknown."""
_NO_SESSIONS: frozenset[str] = frozenset()


class Subscriptions:
    """Index of the sessions by the topics that they show."""

    def __init__(self) -> None:
        self._topics_by_session: dict[str, ShownTopics] = {}
        self._sessions_by_topic: dict[str, set[str]] = {}
        """Sessions of each topic. The key `order/` holds the sessions that show some order by its number."""

    def __contains__(self, name: str) -> bool:
        return name in self._topics_by_session

    def subscribe(self, session: str, topics: ShownTopics) -> None:
        """Replace the topics of a session."""
        self.unsubscribe(session)
        self._topics_by_session[session] = topics
        for topic in _index_keys(topics):
            self._sessions_by_topic.setdefault(topic, set()).add(session)

    def unsubscribe(self, session: str) -> None:
        """Remove a session."""
        for topic in _index_keys(self._topics_by_session.pop(session)) if session in self._topics_by_session else ():
            self._sessions_by_topic[topic].discard(session)
            if not self._sessions_by_topic[topic]:
                del self._sessions_by_topic[topic]

    def matching_sessions(self, topics: Iterable[str]) -> dict[str, tuple[list[str], bool]]:
        """Return the sessions that these topics concern: for each, which topics, and if it shows one of them by its
        key.
        """
        found: dict[str, tuple[list[str], bool]] = {}
        for topic in topics:
            by_name, as_one = self._sessions_of_topic(topic)
            for name in by_name:
                found[name] = [*(found[name][0] if name in found else ()), topic], True
            for name in as_one:
                found.setdefault(name, ([], False))[0].append(topic)
        return found

    def _sessions_of_topic(self, topic: str) -> tuple[Collection[str], Collection[str]]:
        """Return the sessions that show this topic by its key, and the other sessions that it concerns."""
        if topic == LINK:
            return self._topics_by_session.keys(), ()
        if topic == SYNC:
            return (), self._topics_by_session.keys()
        kind, _, key = topic.partition("/")
        as_one = self._sessions_by_topic.get(kind, _NO_SESSIONS) | self._sessions_by_topic.get(ANYTHING, _NO_SESSIONS)
        if key:
            by_name = self._sessions_by_topic.get(topic, _NO_SESSIONS)
            return by_name, as_one - by_name
        return self._sessions_by_topic.get(f"{kind}/", _NO_SESSIONS) - as_one, as_one


def _index_keys(topics: ShownTopics) -> frozenset[str]:
    """Return the keys of the index under which these topics are found."""
    if topics is None:
        return frozenset((ANYTHING,))
    return topics.union(f"{topic.partition('/')[0]}/" for topic in topics if "/" in topic)


NAMED_INTERVAL_S = 0.1
"""Seconds between two notifications of a session about something it shows by its key."""
LIST_INTERVAL_S = 1.0
"""Seconds between two notifications about one row of a list."""
SESSION_GAP_S = 0.004
"""Seconds between two sessions: they do not read all at once. A session that waits for a response is not delayed."""


class _PendingNotification(NamedTuple):
    """Topics that a session still has to be notified of."""

    topics: frozenset[str]
    due: float
    """Seconds since 1970."""


class Notifier:
    """Sender of notifications to the sessions. Without a socket it does nothing."""

    def __init__(self, socket: CourierSocket | None, clock: Callable[[], float], sleep: Sleep) -> None:
        self._socket = socket
        self._clock = clock
        self._wake_event = WakeEvent(sleep)
        self._sent_at: dict[str, float] = {}
        """Time of the last notification of each session, in seconds since 1970."""
        self._pending: dict[str, _PendingNotification] = {}
        self._subscriptions = Subscriptions()
        self._last_turn_at = 0.0
        """Time of the last notification that took a turn among the sessions."""

    def notify(self, topics: Iterable[str]) -> None:
        """Notify the sessions of changed topics, now or as soon as their interval has passed."""
        if self._socket is None:
            return
        changed, now = set(topics), self._clock()
        self._update_subscriptions()
        self._sent_at = {
            name: at
            for name, at in self._sent_at.items()
            if name in self._subscriptions and 0 <= now - at < LIST_INTERVAL_S
        }
        concerned = self._subscriptions.matching_sessions(changed - {WAITING})
        for name in self._socket.take_waiting_sessions() if WAITING in changed else ():
            if name in self._subscriptions:
                concerned.setdefault(name, ([], False))[0].append(WAITING)
        for name, (found, named) in concerned.items():
            self._add_pending(name, found, now if name not in self._sent_at else self._due_at(name, named=named))
        self._send_due(now)
        if self._pending:
            self._wake_event.set()

    def _update_subscriptions(self) -> None:
        """Read changed subscriptions, and drop sessions that are gone."""
        assert self._socket is not None
        changed = self._socket.take_changed_sessions()
        shown = self._socket.subscriptions() if changed else {}
        for name in changed:
            if name in shown:
                self._subscriptions.subscribe(name, shown[name])
            else:
                self._subscriptions.unsubscribe(name)
                self._pending.pop(name, None)

    def _due_at(self, name: str, *, named: bool) -> float:
        return self._sent_at[name] + (NAMED_INTERVAL_S if named else LIST_INTERVAL_S)

    def _add_pending(self, name: str, topics: Iterable[str], due: float) -> None:
        before = self._pending.get(name, _PendingNotification(frozenset(), due))
        self._pending[name] = _PendingNotification(before.topics.union(topics), min(before.due, due))

    def _send_due(self, now: float) -> None:
        due = [name for name, held in self._pending.items() if held.due <= now or held.due > now + LIST_INTERVAL_S]
        for name in due:
            if WAITING in self._pending[name].topics:
                self._send(name, now)
        others = sorted((name for name in due if name in self._pending), key=lambda name: self._pending[name].due)
        if others and not self._last_turn_at <= now < self._last_turn_at + SESSION_GAP_S:
            self._send(others[0], now)
            self._last_turn_at = now

    def _send(self, name: str, now: float) -> None:
        assert self._socket is not None
        self._socket.notify(name, self._pending.pop(name).topics)
        self._sent_at[name] = now

    async def run(self) -> None:
        """Send delayed notifications, in a loop."""
        while True:
            now = self._clock()
            if self._socket is not None:
                self._send_due(now)
            due = min((held.due for held in self._pending.values()), default=None)
            turn = self._last_turn_at + SESSION_GAP_S if self._last_turn_at <= now else now
            await self._wake_event.wait(None if due is None else max(due, turn) - now)


def notification_topics(topic: str, keys: Sequence[str]) -> list[str]:
    """Return one topic for each key, or the whole topic for more than `MAX_KEYED_CHANGES` keys."""
    return [format_topic(topic, key) for key in keys] if len(keys) <= MAX_KEYED_CHANGES else [topic]


def location_topics(rows: Iterable[Row], changed: Sequence[str]) -> list[str]:
    """Return topics of the locations where the changed products now have stock.

    interface: Store product stock entry.
    """
    if len(changed) > MAX_KEYED_CHANGES:
        return []
    entries = [row.get("store_locations") for row in rows if str(row.get("product_number")) in changed]
    places = [place for entry in entries if isinstance(entry, list) for place in entry if isinstance(place, dict)]
    codes = {str(place.get("store_location_code") or "") for place in places}
    return sorted(format_topic(LOCATION, code) for code in codes if code)


ORDER, PRODUCT, LOCATION, STORE = "order", "product", "location", "store"
CATALOGUE = "catalogue"
"""Catalogue data of a product; `PRODUCT` is its stock in the store."""

SURROUNDING = "surrounding"
"""Stock of a product in surrounding stores; the key is the product number."""

DELIVERY = "delivery"
"""Delivery to the store with its lines and receipts."""

LOG = "log"
"""Log of the store of the last days; a key names a part of it: `ENTRY_PREFIX`, or a prefix of `pull/log_reader`."""

ENTRY_PREFIX = "entry/"
"""Prefix of the key of one log entry (`entry/17`)."""

PERSON = "person"
"""People of the store; they are read as one list."""

RECOUNT = "recount"
"""Counts ordered at our own service; read as one list, without keys."""

ASSIGNMENT = "assignment"
"""Moves that clearances require; read as one list, without keys."""

AUDIT = "audit"
"""Who changed an order at our own service; the key is the order number."""

ANNOUNCED = frozenset((ASSIGNMENT, AUDIT, DELIVERY, LOCATION, LOG, ORDER, PERSON, PRODUCT, RECOUNT, STORE, SURROUNDING))
"""Topics whose changes our own service announces."""


class Topic(NamedTuple):
    """Topic with its key."""

    name: str
    key: str


_READABLE_LANES = (f"{ORDER}/", f"{PRODUCT}/", f"{DELIVERY}/")
"""Prefixes of lanes that name a topic."""


def topics_of_operation(op: Operation) -> tuple[Topic, ...]:
    """Return the topics that the operation may have changed, sorted: from its lanes and the numbers in its body."""
    found = {Topic(*lane.split("/", 1)) for lane in op.lanes if lane.startswith(_READABLE_LANES)}
    found.update(_topics_in_body(op.body))
    if op.operation == WRITE_RECOUNTS:
        found.add(Topic(RECOUNT, ""))
    if op.operation == REVIEW_LOGS:
        found.update(Topic(LOG, f"{ENTRY_PREFIX}{review['id']}") for review in op.body["reviews"])
    if op.operation == CREATE_MOVEMENT and any(
        "customer_order_number" in (item.get("from_location") or ()) for item in op.body
    ):
        found.add(Topic(ASSIGNMENT, ""))
    return tuple(sorted(found))


def _topics_in_body(value: Any) -> Iterator[Topic]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "product_number" and item:
                yield Topic(PRODUCT, str(item))
            elif key in ("order_number", "customer_order_number") and item:
                yield Topic(ORDER, str(item))
            else:
                yield from _topics_in_body(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _topics_in_body(item)
