"""The way of rows into the cache: nothing old over what is younger, nothing twice, nothing unsaid.

Rows go as they come from JSON into the cache, which judges them; no model stands between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aisle.client.errors import AnswerError
from aisle.courier.notices import Notices
from aisle.courier.pull.freshness import Freshness
from aisle.courier.ringing import places_of, topics_of
from aisle.courier.topics import DELIVERY, LOCATION, ORDER, PRODUCT, Topic
from aisle.local.cache.writer import Cache, Skipped, Written

Row = dict[str, Any]
UnderWay = Callable[[float], frozenset[str]]
"""Products that something was on its way for since a moment (seconds since 1970), or still is."""
Tell = Callable[[Iterable[str]], None]
"""Rings at the sessions: these topics changed."""

STOCK = "stock"
_NAMED_BAD_ROWS = 5


class Intake:
    """Takes rows of all kinds, from walks through lists and from single reads."""

    def __init__(
        self,
        cache: Cache,
        *,
        fresh: Freshness,
        notices: Notices,
        tell: Tell,
        under_way: UnderWay,
        clock: Callable[[], float],
    ) -> None:
        self.cache = cache
        self.fresh = fresh
        self._notices = notices
        self._tell = tell
        self._under_way = under_way
        self._clock = clock
        self.left_out: Counter[str] = Counter()
        """Rows that made no sense, so far, by the operation that brought them."""
        self.left_last: dict[str, Skipped] = {}
        """The last of these of each operation."""
        self.overtaken: dict[Topic, None] = {}
        """Products and deliveries that were read while a write of them was on its way: to be read once more."""

    def take_overtaken(self) -> list[Topic]:
        """What was overtaken and whose writes have come to an end: until then no answer could be made use of."""
        moving = self._under_way(self._clock()) if self.overtaken else ()
        ended = [topic for topic in self.overtaken if _sent_as(topic) not in moving]
        for topic in ended:
            del self.overtaken[topic]
        return ended

    def put_orders(
        self, rows: Sequence[Row], began: float, generation: int = 0, *, with_lines: bool = True
    ) -> tuple[str, ...]:
        """Orders with lines, or headers alone; the numbers of those that changed.

        A service may leave `lines` out although they were asked for: then these are headers too.
        """
        whole = [row for row in rows if with_lines and has_lines(row)]
        bare = [row for row in rows if not (with_lines and has_lines(row))]
        changed: list[str] = []
        for part, known in ((whole, True), (bare, False)):
            if part:
                written = self.cache.put_orders(part, known, began, generation)
                changed += self.took(ORDER, "list-customer-orders", written)
        return tuple(changed)

    def put_stock(self, rows: Sequence[Row], ticket: int, began: float, generation: int = 0) -> tuple[str, ...]:
        """Stock entries, except those that a younger read has brought, and those of `overtaken` products; the numbers
        of those that are in the cache now.

        What moves goods adds up: laid over an answer that has it already it would be there twice.
        """
        moving = self._under_way(began)
        if moving:
            rows, late = _parted(rows, moving)
            self.overtaken.update((Topic(PRODUCT, number), None) for number in late)
            if generation and late:
                self.cache.note_seen(STOCK, generation, late)
        kept = self._newest(rows, ticket, STOCK, "product_number", generation)
        written = self.cache.put_stock(kept, generation, began)
        self.took(PRODUCT, "list-store-products-stock", written, places_of(kept, written.changed))
        return written.keys

    def put_deliveries(self, rows: Sequence[Row], began: float, generation: int = 0) -> None:
        """Deliveries, except those that something was on its way for: what came adds up, as goods do."""
        moving = self._under_way(began)
        late = [number for row in rows if f"{DELIVERY}/{(number := str(row.get('order_number')))}" in moving]
        if late:
            self.overtaken.update((Topic(DELIVERY, number), None) for number in late)
            rows = [row for row in rows if str(row.get("order_number")) not in late]
            if generation:
                self.cache.note_seen(DELIVERY, generation, late)
        self.took(DELIVERY, "list-deliveries", self.cache.put_deliveries(rows, began, generation))

    def put_products(self, rows: Sequence[Row], ticket: int, generation: int = 0) -> None:
        """Catalogue entries, except those that a younger read has brought."""
        kept = self._newest(rows, ticket, PRODUCT, "product_number", generation)
        self.took(PRODUCT, "list-products", self.cache.put_products(kept, generation))

    def put_locations(self, rows: Sequence[Row], ticket: int, generation: int = 0) -> None:
        """Places, except those that a younger read has brought."""
        kept = self._newest(rows, ticket, LOCATION, "location_code", generation)
        self.took(LOCATION, "list-locations", self.cache.put_locations(kept, generation))

    def _newest(self, rows: Sequence[Row], ticket: int, topic: str, name: str, generation: int) -> Sequence[Row]:
        if not self.fresh.contended:
            return rows
        keys = [str(row.get(name)) for row in rows]
        newest = self.fresh.newest(ticket, topic, keys)
        if generation and len(newest) < len(keys):
            self.cache.note_seen(topic, generation, set(keys) - newest)
        return [row for row, key in zip(rows, keys, strict=True) if key in newest]

    @contextmanager
    def understood(self, topic: str, key: str) -> Iterator[None]:
        """Nothing may pass for read whose row makes no sense: what lies over the cache would leave, and leave nothing.

        Raises AnswerError at the end.
        """
        before = self.left_out.total()
        yield
        if self.left_out.total() > before:
            raise AnswerError(f"The answer for {topic} {key} makes no sense.")

    def took(self, topic: str, name: str, written: Written, also: Sequence[str] = ()) -> tuple[str, ...]:
        """Tells the sessions what is new (and `also` these), and the operator what could not be read."""
        if written.skipped:
            self.left_out[name] += len(written.skipped)
            self.left_last[name] = written.skipped[-1]._replace(row=None)
        for skipped in written.skipped[:_NAMED_BAD_ROWS]:
            self._notices.add(f"A row of {name} was left out: {skipped.why}. It begins {str(skipped.row)[:120]}")
        if len(written.skipped) > _NAMED_BAD_ROWS:
            self._notices.add(f"{len(written.skipped)} rows of one page of {name} were left out.")
        if written.changed:
            self._tell([*topics_of(topic, written.changed), *also])
        return written.changed


def _parted(rows: Sequence[Row], moving: frozenset[str]) -> tuple[list[Row], list[str]]:
    """The rows of other products, and the numbers of these."""
    late = [str(row.get("product_number")) for row in rows if str(row.get("product_number")) in moving]
    return [row for row in rows if str(row.get("product_number")) not in moving], late


def _sent_as(topic: Topic) -> str:
    """What stands for it among what is under way (see Outbox.under_way)."""
    return f"{DELIVERY}/{topic.key}" if topic.topic == DELIVERY else topic.key


def has_lines(row: Row) -> bool:
    """Whether an order came with its lines, or has none."""
    return isinstance(row.get("lines"), list) or not row.get("total_lines")
