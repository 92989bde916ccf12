"""Queue of single reads: runs them in batches, with retries, by `single_reads`; and operations that wait for them."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from math import inf

from aisle.client.paging import Row
from aisle.client.responses_and_errors import InvalidResponse, RateLimited, ServerError, TransportError
from aisle.courier.link_state import REQUEST_ERRORS, OperatorNotices, ServiceLink, unread_reason
from aisle.courier.notify import ASSIGNMENT, LOG, ORDER, PRODUCT, RECOUNT, SURROUNDING, Topic, topics_of_operation
from aisle.courier.pauses_and_wake_event import ListBackoffs, retry_wait_s
from aisle.courier.pull.cache_update import ReadOvertaken
from aisle.courier.pull.list_readers import LOG_LIST
from aisle.courier.pull.single_reads import SingleReads
from aisle.errors import StorageError
from aisle.outbox.operation_record import Operation
from aisle.stored_messages import StoredMessage

MAX_PARALLEL_READS = 4
FAST_RESPONSE_S = 0.03
"""Response time in seconds below which topics are read one after the other.

Otherwise everything that people just did would be read back at once, and scans would wait for the processor.
"""
MIN_BATCH_PRODUCTS = 5
"""Number of products from which they are read in one request, if the service lists changed stock."""
MAX_BATCH_ORDERS = 40
"""Number of orders in one request, if the service accepts several numbers."""
LIST_OF_TOPIC = {LOG: "logs", RECOUNT: "recounts", ASSIGNMENT: "assignments"}
"""Topics that are read as a list, with the names that a sync uses for the lists."""
_MAX_TRIES = 3
_MAX_REFUSED_ROUNDS = 240
"""Rounds of tries, a minute apart, of a read that the service refuses while an operation waits for it: without the
operation the screens would show the figures from before it.
"""


def _list_name(topic: Topic) -> str:
    """Return the list's name for `ListBackoffs`."""
    return LIST_OF_TOPIC.get(topic.name, topic.name)


@dataclass(eq=False)
class ReadQueue:
    """Topics to be read soon.

    `retire` removes operations from the overlay that were read back. `on_order_read` receives an order that was read
    after operations were confirmed. `is_link_failure` returns True if the error of a read affects all other reads.
    `set_missing` receives a list that cannot be read, and why (None: it can again). `on_rows_left_out` receives a list,
    its operation, and the number of its rows that had been left out before.
    """

    single_reads: SingleReads
    link: ServiceLink
    operator_notices: OperatorNotices
    _: KW_ONLY
    retire: Callable[[Sequence[str]], None]
    on_order_read: Callable[[str, Sequence[Row], frozenset[str]], None]
    is_link_failure: Callable[[Exception, str], Awaitable[bool]]
    set_missing: Callable[[str, StoredMessage | None], None]
    on_rows_left_out: Callable[[str, str, int], None]
    list_backoffs: ListBackoffs

    def __post_init__(self) -> None:
        self.read_backs = PendingReadBacks(self.retire)
        self._last_read_s = inf
        """Seconds that the last read took."""
        self._topics: OrderedDict[Topic, None] = OrderedDict()
        self._failures: Counter[Topic] = Counter()
        self._retry_at: dict[Topic, float] = {}
        """Topics that could not be read, with the time of the next try."""

    # Requests

    def add(self, topics: Iterable[Topic]) -> None:
        """Queue topics for the next `read_all`, or for the one that is running."""
        self._topics.update(dict.fromkeys(topics))

    def add_read_backs(self) -> None:
        """Queue the topics of confirmed operations, and those that were overtaken by a write."""
        late = self.single_reads.cache_update.pop_overtaken()
        waits = {*self._retry_at, *self.single_reads.cache_update.overtaken}
        self.add([*(topic for topic in self.read_backs.unread_topics() if topic not in waits), *late])

    @property
    def has_due(self) -> bool:
        """True if something can be read now."""
        return bool(self._topics)

    @property
    def has_unread(self) -> bool:
        """True if something that was queued is not in the cache yet."""
        return bool(self._topics or self._retry_at or self.single_reads.cache_update.overtaken)

    @property
    def is_empty(self) -> bool:
        """True if nothing is left to be read or read back."""
        return not (self.has_unread or self.read_backs.unread_topics())

    def next_retry_at(self) -> float | None:
        """Return the time of the next retry; None if there is none."""
        return min(self._retry_at.values(), default=None)

    # Reading

    async def read_all(self, until: float = inf) -> None:
        """Read queued topics, several in parallel. After `until` (seconds since 1970) only the first ones are read."""
        self.add(self._pop_retries())
        if not self._topics:
            return
        if self.single_reads.can_name_orders:
            await self._read_orders(
                [each for each in self._topics if each.name == ORDER and "\n" not in each.key], until
            )
        readers = min(MAX_PARALLEL_READS if self._last_read_s > FAST_RESPONSE_S else 1, len(self._topics))
        together = [topic for topic in self._topics if topic.name == PRODUCT]
        if len(together) >= MIN_BATCH_PRODUCTS and self.single_reads.can_list_changed and self._can_read():
            for topic in together:
                del self._topics[topic]
            first = self._read_products(together, until)
        else:
            first = self._read_one_by_one(until)
        ends = await asyncio.gather(
            first, *(self._read_one_by_one(until) for _ in range(1, readers)), return_exceptions=True
        )
        self.read_backs.retire_finished()
        for ended in ends:
            if isinstance(ended, BaseException):
                raise ended

    def _pop_retries(self) -> list[Topic]:
        due = [topic for topic, at in self._retry_at.items() if at <= self.single_reads.now()]
        for topic in due:
            del self._retry_at[topic]
        return due

    def _can_read(self) -> bool:
        """Return whether the service is up and has not asked for a pause."""
        return self.link.is_up and not self.link.pause_s

    async def _read_one_by_one(self, until: float) -> None:
        while self._topics and self._can_read():
            topic, _ = self._topics.popitem(last=False)
            await self._read_topic(topic)
            if self.single_reads.now() >= until:
                return

    async def _read_orders(self, orders: Sequence[Topic], until: float) -> None:
        """Read several orders in one request until one fails. A single order, and the rest, are read one by one."""
        for first in range(0, len(orders), MAX_BATCH_ORDERS):
            some = orders[first : first + MAX_BATCH_ORDERS]
            if len(some) == 1 or not self._can_read() or (first and self.single_reads.now() >= until):
                return
            for topic in some:
                self._topics.pop(topic, None)
            waiting_op_ids = {topic: self.read_backs.begin_read(topic) for topic in some}
            try:
                rows = await self.single_reads.read_orders([topic.key for topic in some])
            except REQUEST_ERRORS:  # the single reads will show the cause
                self.add(some)
                return
            except StorageError:
                self.add(some)
                raise
            for topic in some:
                if waiting_op_ids[topic]:
                    self.on_order_read(topic.key, [rows[topic.key]] if topic.key in rows else [], waiting_op_ids[topic])
                self._mark_read(topic, waiting_op_ids[topic])

    async def _read_products(self, products: Sequence[Topic], until: float) -> None:
        """Read products in one request; those that are not in the response are queued one by one."""
        waiting_op_ids = {topic: self.read_backs.begin_read(topic) for topic in products}
        brought: set[str] = set()
        try:
            brought = await self.single_reads.read_changed_products({topic.key for topic in products})
        except REQUEST_ERRORS:
            pass  # the single reads will show the cause
        finally:
            self.add(
                topic
                for topic in products
                if topic.key not in brought and topic not in self.single_reads.cache_update.overtaken
            )
        for topic in products:
            if topic.key in brought:
                self._mark_read(topic, waiting_op_ids[topic])
        await self._read_one_by_one(until)

    async def _read_topic(self, topic: Topic) -> None:
        if self.list_backoffs.is_paused(_list_name(topic), self.single_reads.now()):
            self._retry_at[topic] = self.list_backoffs.paused_until(_list_name(topic))
            return
        waiting_op_ids, began = self.read_backs.begin_read(topic), self.single_reads.now()
        before = self.single_reads.cache_update.left_out[LOG_LIST]
        try:
            rows = await self.single_reads.read_topic(topic)
            self._last_read_s = self.single_reads.now() - began
        except ReadOvertaken:
            return
        except StorageError:
            self.add([topic])
            raise
        except REQUEST_ERRORS as error:
            if not await self._is_own_failure(topic, error):
                self.add([topic])
                return
            rounds = self._failures[topic] // _MAX_TRIES
            lasting = not isinstance(error, InvalidResponse | RateLimited | ServerError | TransportError)
            if lasting and rounds >= _MAX_REFUSED_ROUNDS:
                self.read_backs.end_read(topic, waiting_op_ids)
                waiting_op_ids = frozenset()
            if not lasting or waiting_op_ids or topic.name in LIST_OF_TOPIC:  # it exists, but was not read
                self._retry_at[topic] = self.single_reads.now() + retry_wait_s(1 if waiting_op_ids else rounds)
            else:
                del self._failures[topic]
            return
        if waiting_op_ids and topic.name == ORDER:
            self.on_order_read(topic.key, rows, waiting_op_ids)
        if topic.name == LOG:
            self.on_rows_left_out(LIST_OF_TOPIC[LOG], LOG_LIST, before)
        self._mark_read(topic, waiting_op_ids)

    def _mark_read(self, topic: Topic, op_ids: frozenset[str]) -> None:
        self.list_backoffs.clear(_list_name(topic))
        del self._failures[topic]
        self._retry_at.pop(topic, None)
        self.read_backs.end_read(topic, op_ids)
        if topic.name in LIST_OF_TOPIC:
            self.set_missing(LIST_OF_TOPIC[topic.name], None)

    async def _is_own_failure(self, topic: Topic, error: Exception) -> bool:
        """Return whether only this topic cannot be read; after `_MAX_TRIES` it is logged and marked as missing."""
        of_the_link = await self.is_link_failure(error, _list_name(topic))
        if of_the_link and not isinstance(error, RateLimited):  # a rate limit may be this topic's alone
            return False
        self._failures[topic] += 1
        if self._failures[topic] % _MAX_TRIES and not isinstance(error, TransportError):
            return False
        if topic.name == SURROUNDING:
            self.single_reads.cache.write_surrounding(topic.key, (), self.single_reads.now(), str(error))
        self.operator_notices.add(f"{topic.name} {topic.key} cannot be read: {error}")
        if topic.name in LIST_OF_TOPIC:
            self.set_missing(LIST_OF_TOPIC[topic.name], unread_reason(error))
        return True


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
