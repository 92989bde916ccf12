"""What is wanted fresh, and reading it: one by one, or several at once where a list brings them together.

What fails for want of a link stays wanted. What cannot be read, while everything else can, is let go after some tries
and asked for again later, for there is something to be shown.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from math import inf

from aisle.client.errors import AnswerError, RateLimited, ServerError, TransportError
from aisle.courier.backoff import backoff
from aisle.courier.link import TROUBLE, Link
from aisle.courier.notices import Notices
from aisle.courier.pull.intake import Row
from aisle.courier.pull.logs import LIST as LOG_LIST
from aisle.courier.pull.readback import ReadBacks
from aisle.courier.pull.single import Overtaken, Pull
from aisle.courier.rests import Rests
from aisle.courier.telling import why_unread
from aisle.courier.topics import ASSIGNMENT, LOG, ORDER, PRODUCT, RECOUNT, SURROUNDING, Topic
from aisle.errors import StorageError
from aisle.local.outbox.operation import Operation
from aisle.local.told import Told

AT_ONCE = 4
NEAR_S = 0.03
"""A service that answers sooner is asked for one after the other: what all people of a store have just done is then not
read back in one go, with whoever scans meanwhile waiting for a processor."""
AGAIN_S = 900.0
"""So seldom in the end what can never be read is tried again."""
TOGETHER = 5
"""So many products and more are asked for in one request, where the service can be asked for what has changed."""
MOST_ORDERS = 40
"""So many orders are asked for in one request, where the service can be asked for several."""
LIST_OF_TOPIC = {LOG: "logs", RECOUNT: "recounts", ASSIGNMENT: "assignments"}
"""What is read as a list, by the names that a sync has for lists."""
_TRIES = 3
_UNREAD_S = 60.0
"""After so long what could not be read is asked for again, and then less and less often; where something waits to be
read back by it, each time."""


def again_s(tries: int) -> float:
    """Seconds until what could not be read so often is asked for again."""
    return backoff(tries, 1.0, _UNREAD_S, AGAIN_S)


def _list_of(topic: Topic) -> str:
    """The list by which this is read, as a rest names it (see `Rests`)."""
    return LIST_OF_TOPIC.get(topic.topic, topic.topic)


class Wanted:
    """What is to be read soon. `retire` lets operations go that were read back; `read_back` is shown an order that was
    read after these were confirmed; `is_of_the_link` says of what a read ended in whether nothing else can be read
    either; `lacks` is told of a list that cannot be read, and why (None: it can again);
    `left_out` is told of a list, the operation that brings it, and how many of its rows had been left out before."""

    def __init__(
        self,
        pull: Pull,
        link: Link,
        notices: Notices,
        *,
        retire: Callable[[Sequence[str]], None],
        read_back: Callable[[str, Sequence[Row], frozenset[str]], None],
        is_of_the_link: Callable[[Exception, str], Awaitable[bool]],
        lacks: Callable[[str, Told | None], None],
        left_out: Callable[[str, str, int], None],
        rests: Rests,
    ) -> None:
        self._pull = pull
        self._link = link
        self._notices = notices
        self._read_backs = ReadBacks(retire)
        self._read_back = read_back
        self._is_of_the_link = is_of_the_link
        self._lacks = lacks
        self._left_out = left_out
        self._rests = rests
        self._took = inf
        """Seconds that the last read took."""
        self._topics: dict[Topic, None] = {}
        self._failed: Counter[Topic] = Counter()
        self._later: dict[Topic, float] = {}
        """What could not be read, and when it is asked for again."""

    # What is wanted

    def add(self, topics: Iterable[Topic]) -> None:
        """These are to be read by the next `read`, or by the one that is under way."""
        self._topics.update(dict.fromkeys(topics))

    def confirmed(self, op: Operation) -> None:
        """The service has just confirmed this: it leaves the overlay when what it touched was read from now on."""
        self._read_backs.confirmed(op)

    def forget(self, op: Operation) -> None:
        """It is not confirmed any more: no read can speak for it."""
        self._read_backs.forget(op.op_id)

    def add_touched(self) -> None:
        """What was confirmed is to be read back, and so is what a write was on its way for when it was read."""
        late = self._pull.into.take_overtaken()
        waits = {*self._later, *self._pull.into.overtaken}
        self.add([*(topic for topic in self._read_backs.unread() if topic not in waits), *late])

    @property
    def due(self) -> bool:
        """Whether something could be read at once."""
        return bool(self._topics)

    @property
    def unread(self) -> bool:
        """Whether something that was wanted is not in the cache yet."""
        return bool(self._topics or self._later or self._pull.into.overtaken)

    @property
    def rests(self) -> bool:
        """Whether nothing is left to be read, or to be read back."""
        return not (self.unread or self._read_backs.unread())

    def next_at(self) -> float | None:
        """When something is to be asked for again."""
        return min(self._later.values(), default=None)

    # Reading it

    async def read(self) -> None:
        """Reads what is wanted, some at once."""
        self.add(self._take_later())
        if not self._topics:
            return
        if self._pull.named_orders:
            await self._read_orders([each for each in self._topics if each.topic == ORDER and "\n" not in each.key])
        readers = min(AT_ONCE if self._took > NEAR_S else 1, len(self._topics))
        together = [topic for topic in self._topics if topic.topic == PRODUCT]
        if len(together) >= TOGETHER and self._pull.lists_changed and self._may_ask():
            for topic in together:
                del self._topics[topic]
            first = self._read_together(together)
        else:
            first = self._read_some()
        ends = await asyncio.gather(first, *(self._read_some() for _ in range(1, readers)), return_exceptions=True)
        self._read_backs.leave()
        for ended in ends:
            if isinstance(ended, BaseException):
                raise ended

    def _take_later(self) -> list[Topic]:
        due = [topic for topic, at in self._later.items() if at <= self._pull.now()]
        for topic in due:
            del self._later[topic]
        return due

    def _may_ask(self) -> bool:
        """A service that asked for patience is left alone, and one that is not there is knocked at first."""
        return self._link.is_up and not self._link.held_s

    async def _read_some(self) -> None:
        while self._topics and self._may_ask():
            topic = next(iter(self._topics))
            del self._topics[topic]
            await self._read(topic)

    async def _read_orders(self, orders: Sequence[Topic]) -> None:
        """Several orders in one request, for as long as that goes well; one alone, and what is left, by itself."""
        for first in range(0, len(orders), MOST_ORDERS):
            some = orders[first : first + MOST_ORDERS]
            if len(some) == 1 or not self._may_ask():
                return
            for topic in some:
                self._topics.pop(topic, None)
            spoken_for = {topic: self._read_backs.begins(topic) for topic in some}
            try:
                rows = await self._pull.orders([topic.key for topic in some])
            except TROUBLE:  # whoever asks for one of them will see what the matter is
                self.add(some)
                return
            except StorageError:
                self.add(some)
                raise
            for topic in some:
                if spoken_for[topic]:
                    self._read_back(topic.key, [rows[topic.key]] if topic.key in rows else [], spoken_for[topic])
                self._has_read(topic, spoken_for[topic])

    async def _read_together(self, products: Sequence[Topic]) -> None:
        """Products in one request; each that it does not bring is asked for by itself, whatever the reason."""
        spoken_for = {topic: self._read_backs.begins(topic) for topic in products}
        brought: set[str] = set()
        try:
            brought = await self._pull.changed_products({topic.key for topic in products})
        except TROUBLE:
            pass  # whoever asks for one of them will see what the matter is
        finally:
            self.add(topic for topic in products if topic.key not in brought and topic not in self._pull.into.overtaken)
        for topic in products:
            if topic.key in brought:
                self._has_read(topic, spoken_for[topic])
        await self._read_some()

    async def _read(self, topic: Topic) -> None:
        if self._rests.lasts(_list_of(topic), self._pull.now()):
            self._later[topic] = self._rests.until(_list_of(topic))
            return
        spoken_for, began = self._read_backs.begins(topic), self._pull.now()
        before = self._pull.into.left_out[LOG_LIST]
        try:
            rows = await self._pull.topic(topic)
            self._took = self._pull.now() - began
        except Overtaken:
            return
        except StorageError:
            self.add([topic])
            raise
        except TROUBLE as error:
            if not await self._is_to_blame(topic, error):
                self.add([topic])
                return
            lasting = not isinstance(error, AnswerError | RateLimited | ServerError | TransportError)
            if lasting:
                self._read_backs.ends(topic, spoken_for)
            if not lasting or topic.topic in LIST_OF_TOPIC:  # there is something to be shown, and it was not seen
                rounds = 1 if spoken_for else self._failed[topic] // _TRIES
                self._later[topic] = self._pull.now() + again_s(rounds)
            else:
                del self._failed[topic]
            return
        if spoken_for and topic.topic == ORDER:
            self._read_back(topic.key, rows, spoken_for)
        if topic.topic == LOG:
            self._left_out(LIST_OF_TOPIC[LOG], LOG_LIST, before)
        self._has_read(topic, spoken_for)

    def _has_read(self, topic: Topic, spoken_for: frozenset[str]) -> None:
        self._rests.end(_list_of(topic))
        del self._failed[topic]
        self._later.pop(topic, None)
        self._read_backs.ends(topic, spoken_for)
        if topic.topic in LIST_OF_TOPIC:
            self._lacks(LIST_OF_TOPIC[topic.topic], None)

    async def _is_to_blame(self, topic: Topic, error: Exception) -> bool:
        """Whether it is this that cannot be read, while everything else can: then it is let go after some tries."""
        of_the_link = await self._is_of_the_link(error, _list_of(topic))
        if of_the_link and not isinstance(error, RateLimited):  # patience is asked of all; of one alone, it is to blame
            return False
        self._failed[topic] += 1
        if self._failed[topic] % _TRIES and not isinstance(error, TransportError):
            return False
        if topic.topic == SURROUNDING:
            self._pull.cache.put_surrounding(topic.key, (), self._pull.now(), str(error))
        self._notices.add(f"{topic.topic} {topic.key} cannot be read: {error}")
        if topic.topic in LIST_OF_TOPIC:
            self._lacks(LIST_OF_TOPIC[topic.topic], why_unread(error))
        return True
