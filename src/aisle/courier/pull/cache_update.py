"""Writing of rows to the cache, in the order in which their reads began: of full syncs and of single reads.

A full sync and single reads run in parallel. A page requested before an order was read again must not restore the
order's old state. The overlay that covered it is gone by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from reprlib import repr as short_repr

from aisle.cache.writer import CacheWriter, SkippedRow, WriteResult
from aisle.client.paging import Row
from aisle.client.responses_and_errors import InvalidResponse
from aisle.courier.link_state import OperatorNotices
from aisle.courier.notify import DELIVERY, LOCATION, ORDER, PRODUCT, Topic, location_topics, notification_topics


class ReadOvertaken(Exception):
    """Read during which a write of the row was pending: the response may or may not include it."""


class ReadSequence:
    """Numbers of reads in the order in which they began, and the rows that later reads have brought."""

    def __init__(self) -> None:
        self._last_number = 0
        self._running: set[int] = set()
        self._read_by: dict[tuple[str, str], int] = {}

    @property
    def has_parallel_reads(self) -> bool:
        """True if more than one read is running, so that rows have to be compared."""
        return len(self._running) > 1 or bool(self._read_by)

    @contextmanager
    def start_read(self) -> Iterator[int]:
        """Yield the number of a read. Enter before the request, leave when its rows are in the cache."""
        self._last_number += 1
        read_number = self._last_number
        self._running.add(read_number)
        try:
            yield read_number
        finally:
            self._running.discard(read_number)
            self._discard_old()

    def current_keys(self, read_number: int, topic: str, keys: Iterable[str]) -> set[str]:
        """Return the keys that no later read has brought yet; they count as brought by this one."""
        mine = {key for key in keys if self._read_by.get((topic, key), 0) <= read_number}
        if self._running - {read_number}:
            self._read_by.update(((topic, key), read_number) for key in mine)
        return mine

    def _discard_old(self) -> None:
        """Forget what no running read could contradict, so that memory stays constant."""
        oldest = min(self._running, default=None)
        if oldest is None:
            self._read_by.clear()
        elif self._read_by:
            self._read_by = {key: read_number for key, read_number in self._read_by.items() if read_number > oldest}


PendingKeys = Callable[[float], frozenset[str]]
"""Function that returns the products whose writes were pending at or after a time (seconds since 1970)."""
Notify = Callable[[Iterable[str]], None]
"""Function that notifies sessions of changed topics."""

STOCK = "stock"
_MAX_SHOWN_BAD_ROWS = 5


@dataclass(eq=False)
class CacheUpdate:
    """Cache writes for rows of all kinds, from lists and from single reads."""

    cache: CacheWriter
    _: KW_ONLY
    read_sequence: ReadSequence
    operator_notices: OperatorNotices
    notify: Notify
    pending_keys: PendingKeys
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        """Number of invalid rows so far, by operation."""
        self.last_left_out: dict[str, SkippedRow] = {}
        """Last invalid row of each operation."""
        self.overtaken: dict[Topic, None] = {}
        """Products and deliveries that were read while a write of them was pending; they are read once more."""

    def pop_overtaken(self) -> list[Topic]:
        """Return and remove the overtaken topics whose writes have ended. Until then no response can be used."""
        pending = self.pending_keys(self.clock()) if self.overtaken else ()
        ended = [topic for topic in self.overtaken if _pending_key(topic) not in pending]
        for topic in ended:
            del self.overtaken[topic]
        return ended

    def put_orders(
        self, rows: Sequence[Row], began: float, generation: int = 0, *, with_lines: bool = True
    ) -> tuple[str, ...]:
        """Write orders with lines, or headers alone. Return the numbers of those that changed.

        A service may leave out `lines` although they were requested; those rows are headers too.
        """
        whole = [row for row in rows if with_lines and has_lines(row)]
        bare = [row for row in rows if not (with_lines and has_lines(row))]
        changed: list[str] = []
        for part, has_lines_too in ((whole, True), (bare, False)):
            if part:
                written = self.cache.write_orders(part, has_lines_too, began, generation)
                changed += self.record_written(ORDER, "list-customer-orders", written)
        return tuple(changed)

    def put_stock(self, rows: Sequence[Row], read_number: int, began: float, generation: int = 0) -> tuple[str, ...]:
        """Write stock entries, except those a later read brought and overtaken products. Return the numbers in the
        cache.

        Pending movements are added to cached figures; on top of a response that includes them they would count twice.
        """
        pending = self.pending_keys(began)
        if pending:
            rows, late = _split_pending(rows, pending)
            self.overtaken.update((Topic(PRODUCT, number), None) for number in late)
            if generation and late:
                self.cache.mark_seen(STOCK, generation, late)
        kept = self._current_rows(rows, read_number, STOCK, "product_number", generation)
        written = self.cache.write_stock(kept, generation, began)
        self.record_written(PRODUCT, "list-store-products-stock", written, location_topics(kept, written.changed))
        return written.keys

    def put_deliveries(self, rows: Sequence[Row], began: float, generation: int = 0) -> None:
        """Write deliveries, except those with pending writes: received quantities add up, as stock does."""
        pending = self.pending_keys(began)
        late = [number for row in rows if f"{DELIVERY}/{(number := str(row.get('order_number')))}" in pending]
        if late:
            self.overtaken.update((Topic(DELIVERY, number), None) for number in late)
            rows = [row for row in rows if str(row.get("order_number")) not in late]
            if generation:
                self.cache.mark_seen(DELIVERY, generation, late)
        self.record_written(DELIVERY, "list-deliveries", self.cache.write_deliveries(rows, began, generation))

    def put_products(self, rows: Sequence[Row], read_number: int, generation: int = 0) -> None:
        """Write catalogue entries, except those that a later read has brought."""
        kept = self._current_rows(rows, read_number, PRODUCT, "product_number", generation)
        self.record_written(PRODUCT, "list-products", self.cache.write_products(kept, generation))

    def put_locations(self, rows: Sequence[Row], read_number: int, generation: int = 0) -> None:
        """Write locations, except those that a later read has brought."""
        kept = self._current_rows(rows, read_number, LOCATION, "location_code", generation)
        self.record_written(LOCATION, "list-locations", self.cache.write_locations(kept, generation))

    def _current_rows(
        self, rows: Sequence[Row], read_number: int, topic: str, name: str, generation: int
    ) -> Sequence[Row]:
        if not self.read_sequence.has_parallel_reads:
            return rows
        keys = [str(row.get(name)) for row in rows]
        newest = self.read_sequence.current_keys(read_number, topic, keys)
        if generation and len(newest) < len(keys):
            self.cache.mark_seen(topic, generation, set(keys) - newest)
        return [row for row, key in zip(rows, keys, strict=True) if key in newest]

    @contextmanager
    def require_valid_rows(self, topic: str, key: str) -> Iterator[None]:
        """Raise InvalidResponse at the end if a row of this read was invalid.

        Otherwise the operation would leave the overlay, and the cache would show neither it nor its effect.
        """
        before = self.left_out.total()
        yield
        if self.left_out.total() > before:
            raise InvalidResponse(f"The answer for {topic} {key} makes no sense.")

    def record_written(
        self, topic: str, name: str, written: WriteResult, other_topics: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Notify sessions of changed keys and `other_topics`, and log invalid rows. Return the changed keys."""
        if written.skipped:
            self.left_out[name] += len(written.skipped)
            self.last_left_out[name] = written.skipped[-1]._replace(row=None)
        for skipped in written.skipped[:_MAX_SHOWN_BAD_ROWS]:
            self.operator_notices.add(
                f"A row of {name} was left out: {skipped.reason}. It begins {_beginning(skipped.row)}"
            )
        if len(written.skipped) > _MAX_SHOWN_BAD_ROWS:
            self.operator_notices.add(f"{len(written.skipped)} rows of one page of {name} were left out.")
        if written.changed:
            self.notify([*notification_topics(topic, written.changed), *other_topics])
        return written.changed


def _beginning(row: object) -> str:
    """Return the first fields of a row with short values."""
    fields = row.items() if isinstance(row, dict) else ()
    shown = ", ".join(f"{str(name)[:40]!r}: {short_repr(value)}" for name, value in islice(fields, 8))
    return f"{{{shown}}}"[:120] if shown else short_repr(row)


def _split_pending(rows: Sequence[Row], pending: frozenset[str]) -> tuple[list[Row], list[str]]:
    """Return the rows of products without pending writes, and the numbers of the other products."""
    late = [str(row.get("product_number")) for row in rows if str(row.get("product_number")) in pending]
    return [row for row in rows if str(row.get("product_number")) not in pending], late


def _pending_key(topic: Topic) -> str:
    """Return the key of a topic among pending writes (see `OperationQueue.records_changed_since`)."""
    return f"{DELIVERY}/{topic.key}" if topic.name == DELIVERY else topic.key


def has_lines(row: Row) -> bool:
    """Return whether an order came with its lines, or has none."""
    return isinstance(row.get("lines"), list) or not row.get("total_lines")
