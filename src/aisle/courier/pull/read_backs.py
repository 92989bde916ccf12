"""Confirmed operations, which stay in the overlay until everything they touched was read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from aisle.courier.topics_to_reread import Topic, topics_of_operation
from aisle.outbox.operation_record import Operation


class PendingReadBacks:
    """Confirmed operations that wait for reads.

    An operation leaves the overlay when everything it touched was read, by reads begun after its confirmation.
    """

    def __init__(self, retire: Callable[[Sequence[str]], None]) -> None:
        self._retire = retire
        self._waiting: dict[str, set[Topic]] = {}
        self._finished: list[str] = []
        """Operations that can leave the overlay. They are collected, so that several leave in one transaction."""

    def add(self, op: Operation) -> None:
        """Add an operation that the service has just confirmed."""
        topics = topics_of_operation(op)
        if topics:
            self._waiting[op.op_id] = set(topics)
        else:
            self._retire([op.op_id])

    def unread_topics(self) -> list[Topic]:
        """Return the topics that have to be read, or are being read now."""
        return list(dict.fromkeys(topic for topics in self._waiting.values() for topic in sorted(topics)))

    def discard(self, op_id: str) -> None:
        """Remove an operation that is no longer confirmed; it stays in the overlay."""
        self._waiting.pop(op_id, None)
        self._finished = [other for other in self._finished if other != op_id]

    def begin_read(self, topic: Topic) -> frozenset[str]:
        """Return the operations that a read of this topic, begun now, will count for."""
        return frozenset(op_id for op_id, topics in self._waiting.items() if topic in topics)

    def end_read(self, topic: Topic, op_ids: Iterable[str]) -> None:
        """Record that a read is in the cache, or that the service has no such row."""
        for op_id in op_ids:
            topics = self._waiting.get(op_id)
            if topics is None:
                continue
            topics.discard(topic)
            if not topics:
                del self._waiting[op_id]
                self._finished.append(op_id)

    def retire_finished(self) -> None:
        """Remove finished operations from the overlay. Raise StorageError; they are removed at the next call then."""
        if self._finished:
            self._retire(self._finished)
            self._finished = []
