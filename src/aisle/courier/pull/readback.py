"""Which confirmed operations still lie over the cache, and what has to be read before they may leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from aisle.courier.topics import Topic, touched
from aisle.local.outbox.operation import Operation


class ReadBacks:
    """An operation leaves the overlay when all that it touched was read, by reads begun after its confirmation."""

    def __init__(self, retire: Callable[[Sequence[str]], None]) -> None:
        self._retire = retire
        self._waiting: dict[str, set[Topic]] = {}
        self._over: list[str] = []
        """They may leave, and have not left yet: several leave in one transaction."""

    def confirmed(self, op: Operation) -> None:
        """Takes an operation that the service has just confirmed."""
        topics = touched(op)
        if topics:
            self._waiting[op.op_id] = set(topics)
        else:
            self._retire([op.op_id])

    def unread(self) -> list[Topic]:
        """What has to be read, or is being read at this moment."""
        return list(dict.fromkeys(topic for topics in self._waiting.values() for topic in sorted(topics)))

    def forget(self, op_id: str) -> None:
        """It is not confirmed any more: it stays where it is."""
        self._waiting.pop(op_id, None)
        self._over = [other for other in self._over if other != op_id]

    def begins(self, topic: Topic) -> frozenset[str]:
        """A read of this topic begins; the operations that it will speak for when it is in the cache."""
        return frozenset(op_id for op_id, topics in self._waiting.items() if topic in topics)

    def ends(self, topic: Topic, spoken_for: Iterable[str]) -> None:
        """That read is in the cache, or the service has nothing to say to it."""
        for op_id in spoken_for:
            topics = self._waiting.get(op_id)
            if topics is None:
                continue
            topics.discard(topic)
            if not topics:
                del self._waiting[op_id]
                self._over.append(op_id)

    def leave(self) -> None:
        """Lets go all that may leave. Raises StorageError; then they are let go the next time."""
        if self._over:
            self._retire(self._over)
            self._over = []
