"""cache.db from the courier's side: the one writer of what the service says. Sessions read it by `local.reads`.

Rows are raw answers of the service. Those that make no sense are left out and handed back with the reason; all others
are written in one transaction, with the cursor of the sync where it is set in the same `batch`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import apsw

from aisle.cache import field_parsing as parse
from aisle.cache.cache_file import open_cache
from aisle.cache.delivery_writer import (
    delete_deliveries,
    delete_orphan_codes,
    delete_unseen_receipts,
    find_unseen_deliveries,
    parse_delivery,
    parse_receipt,
    write_deliveries,
    write_receipts,
)
from aisle.cache.location_writer import delete_unseen_locations, write_locations
from aisle.cache.log_writer import LogRow, parse_log_entry, updated_values, write_logs
from aisle.cache.order_writer import (
    OrderRead,
    delete_orders,
    find_unseen_orders,
    parse_order,
    parse_order_lines,
    write_orders,
)
from aisle.cache.product_writer import (
    SkippedRow,
    WriteResult,
    delete_unseen_products,
    delete_unseen_stock,
    parse_rows,
    write_products,
    write_stock,
    write_surrounding,
)
from aisle.cache.schema import ABSENT_ORDERS, FEED_ENTRIES, MAX_KEYED_CHANGES
from aisle.cache.store_writer import (
    delete_stores,
    has_store_details,
    stores_except,
    write_people,
    write_store_details,
    write_stores,
)
from aisle.cache.task_writer import parse_assignment, parse_recount, write_assignments, write_recounts
from aisle.host.database import fetch, fetch_one, transaction
from aisle.jobs.job import Json

__all__ = ["CacheWriter", "LinkRow", "SkippedRow", "WriteResult", "open_cache"]

MAX_ABSENT_ORDERS = 100
"""Orders that the service does not have of which it is known that it said so."""

PRODUCT_TOPIC, STOCK_TOPIC, ORDER_TOPIC, LOCATION_TOPIC = "product", "stock", "order", "location"
DELIVERY_TOPIC, ABSENT_TOPIC = "delivery", "absent"


class LinkRow(NamedTuple):
    """The state of the link, as the courier sees it. None leaves a value as it is."""

    state: str | None = None
    """See aisle.jobs.view.LinkState."""
    last_ok: float | None = None
    """When the service last confirmed the cache, in seconds since 1970."""
    done: int | None = None
    total: int | None = None
    server: str | None = None
    features: str | None = None


class CacheWriter:
    """The tables of cache.db, to be written. One instance a process."""

    def __init__(self, connection: apsw.Connection, store: str) -> None:
        self._db = connection
        self._store = store

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is one transaction; without it each method makes its own."""
        if self._db.in_transaction:
            yield
        else:
            with transaction(self._db):
                yield

    # Rows of the service

    def write_products(self, rows: Iterable[Any], generation: int = 0) -> WriteResult:
        """Products of the catalogue. interface: Product.

        `generation` (also below) numbers a complete pass that is to end with `sweep`; 0 for anything else.
        """

        def write(connection: apsw.Connection, fresh: Sequence[parse.ProductRow]) -> tuple[str, ...]:
            return updated_values(connection, write_products(connection, fresh))

        return self._write_rows(
            PRODUCT_TOPIC, rows, parse.parse_product, lambda row: row.product_number, write, generation
        )

    def write_stock(self, rows: Iterable[Any], generation: int = 0, read_began: float = 0.0) -> WriteResult:
        """Stock entries of this store; with `store_locations` where they were asked for.

        interface: Store product stock entry. Places that an entry does not speak of stay as they were. `read_began`:
        seconds since 1970, taken before the request left; what was confirmed before then is in the rows already. 0
        where nobody knows.
        """

        def write(connection: apsw.Connection, fresh: Sequence[parse.StockRow]) -> tuple[str, ...]:
            return updated_values(connection, write_stock(connection, fresh, read_began))

        return self._write_rows(
            STOCK_TOPIC,
            rows,
            lambda row: parse.parse_stock(row, self._store),
            lambda row: row.product_number,
            write,
            generation,
        )

    def write_orders(
        self, rows: Iterable[Any], lines_known: bool, read_began: float, generation: int = 0
    ) -> WriteResult:
        """Orders, with their lines (an empty list included) or headers only. interface: Customer order.

        `read_began`: seconds since 1970, taken before the request left. `changed` names those whose lines have to be
        read, when these were headers.
        """

        def order(raw: Any) -> OrderRead:
            lines = parse_order_lines(raw) if lines_known else None
            return OrderRead(parse_order(raw, lines), lines)

        def write(connection: apsw.Connection, reads: Sequence[OrderRead]) -> tuple[str, ...]:
            return write_orders(connection, reads, read_began)

        return self._write_rows(ORDER_TOPIC, rows, order, lambda read: read.header.order_number, write, generation)

    def write_locations(self, rows: Iterable[Any], generation: int = 0) -> WriteResult:
        """Places of the store. interface: Location."""
        return self._write_rows(
            LOCATION_TOPIC, rows, parse.parse_location, lambda row: row.location_code, write_locations, generation
        )

    def write_stores(self, rows: Iterable[Any]) -> WriteResult:
        """Stores of the chain. interface: Store. A store that is not among them stays."""
        return self._write_rows("store", rows, parse.parse_store, lambda row: row.store_number, write_stores, 0)

    def write_surrounding(self, number: str, rows: Iterable[Any], read_began: float, refusal: str = "") -> None:
        """What the stores around and the warehouses have of a product. interface: Surrounding stock entry.

        `refused`: why the service does not say; what it said before is forgotten then.
        """
        good, _ = parse_rows(rows, parse.parse_surrounding)
        with self.transaction():
            write_surrounding(self._db, number, read_began, refusal, good)
            self._log_changes("surrounding", (number,))

    def write_logs(self, rows: Iterable[Any], since: str, losses_since: str = "") -> WriteResult:
        """Entries of the store's log; what happened before that moment (ISO 8601 UTC) is forgotten, losses and finds
        before `losses`.

        interface: Store product log entry.
        """

        def write(connection: apsw.Connection, fresh: Sequence[LogRow]) -> tuple[str, ...]:
            return write_logs(connection, fresh, since, losses_since or since)

        return self._write_rows("log", rows, parse_log_entry, lambda row: row.key, write, 0)

    def write_deliveries(self, rows: Iterable[Any], read_began: float, generation: int = 0) -> WriteResult:
        """Deliveries to this store with their lines; `read_began` as for orders. interface: Delivery order."""
        return self._write_rows(
            DELIVERY_TOPIC,
            rows,
            lambda row: parse_delivery(row, self._store),
            lambda row: row.order_number,
            lambda connection, fresh: write_deliveries(connection, fresh, read_began),
            generation,
        )

    def write_receipts(self, rows: Iterable[Any]) -> WriteResult:
        """What came of deliveries to this store. interface: Receipt order."""
        return self._write_rows(
            DELIVERY_TOPIC,
            rows,
            lambda row: parse_receipt(row, self._store),
            lambda row: row.order_number,
            write_receipts,
            0,
        )

    def delete_unseen_receipts(self, seen: Iterable[str]) -> None:
        """Ends a complete pass of the receipts: forgets those that it has not met, except those of deliveries here."""
        with self.transaction():
            self._log_changes(DELIVERY_TOPIC, delete_unseen_receipts(self._db, seen))

    def delivery_types(self) -> tuple[int, ...]:
        """The types of the deliveries that are known, as far as they are numbers."""
        rows = fetch(self._db, "SELECT DISTINCT raw ->> 'order_type' FROM delivery")
        return tuple(int(kind) for (kind,) in rows if str(kind).isdecimal())

    def delete_deliveries(self, numbers: Sequence[str]) -> None:
        """Takes deliveries out that the service does not have any more."""
        with self.transaction():
            self._log_changes(DELIVERY_TOPIC, delete_deliveries(self._db, numbers))

    def write_people(self, rows: Iterable[Any]) -> WriteResult:
        """All people of the store: `user`, `name`, `badge`, `role`; others are forgotten."""
        return self._write_rows("person", rows, parse.parse_person, lambda row: row.user, write_people, 0)

    def write_assignments(self, rows: Iterable[Any]) -> WriteResult:
        """All that clearances want moved and that is not moved yet; others are forgotten."""
        return self._write_rows("assignment", rows, parse_assignment, lambda row: row.id, write_assignments, 0)

    def assignment_ids(self) -> set[str]:
        """The ids of those that are known."""
        return {str(id_) for (id_,) in fetch(self._db, "SELECT id FROM assignment")}

    def delete_unseen_stores(self, seen: Iterable[str]) -> None:
        """Ends a complete pass of the stores: forgets those that it has not met."""
        with self.transaction():
            self._log_changes("store", delete_stores(self._db, stores_except(self._db, seen)))

    def write_store_details(self, number: str, details: Any, read_began: float, refusal: str = "") -> WriteResult:
        """All that was said of a store when it was made; None, and why, where the service does not tell."""
        with self.transaction():
            changed = write_store_details(self._db, number, details, refusal, read_began)
            self._log_changes("store", changed)
        return WriteResult((number,), changed, ())

    def has_store_details(self, number: str) -> bool:
        """Whether more than the list says of a store was ever asked for."""
        return has_store_details(self._db, number)

    def write_recounts(self, rows: Iterable[Any]) -> WriteResult:
        """All counts that are ordered and open at the service; others are forgotten."""
        return self._write_rows("recount", rows, parse_recount, lambda row: row.id, write_recounts, 0)

    def delete_absent_orders(self, numbers: Sequence[str], *, read_began: float) -> tuple[str, ...]:
        """Takes orders out that the service did not have when it was asked; of the last of them is kept when that was,
        and each time it is told, for whoever has asked for one. Those of which that is news: who works on one asks
        again when he hears that the order itself has changed, and would never come to an end."""
        with self.transaction():
            known: dict[str, float] = dict(self.cursor(ABSENT_ORDERS) or ())
            gone = {*delete_orders(self._db, numbers), *(number for number in numbers if number not in known)}
            news = tuple(number for number in numbers if number in gone)
            said = {
                **{each: known[each] for each in known if each not in numbers},
                **dict.fromkeys(numbers, read_began),
            }
            self.set_cursor(ABSENT_ORDERS, [[*each] for each in said.items()][-MAX_ABSENT_ORDERS:])
            self._log_changes(ORDER_TOPIC, news)
            self._log_changes(ABSENT_TOPIC, numbers)
        return news

    def find_unseen_orders(self, generation: int) -> tuple[str, ...]:
        """Active orders that a complete pass has not met: to be asked for one by one before they are forgotten."""
        return find_unseen_orders(self._db, generation)

    def orders_without_lines(self) -> tuple[str, ...]:
        """Open and picked orders that only a list has brought so far."""
        rows = fetch(self._db, "SELECT order_number FROM orders WHERE state < 2 AND lines_began IS NULL ORDER BY sort")
        return tuple(str(number) for (number,) in rows)

    def delete_closed_orders(self, before: float) -> None:
        """Takes out what is finished or rejected and was last read before that moment (seconds since 1970)."""
        with self.transaction():
            rows = fetch(self._db, "SELECT order_number FROM orders WHERE state = 2 AND header_began < ?", before)
            self._log_changes(ORDER_TOPIC, delete_orders(self._db, [str(number) for (number,) in rows]))

    def mark_seen(self, topic: str, generation: int, keys: Iterable[str]) -> None:
        """A complete pass has met these keys, although a younger read has brought their rows already."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO seen (topic, generation, key) VALUES (?, ?, ?)",
                [(topic, generation, key) for key in sorted(keys)],
            )

    def count_seen(self, topic: str, generation: int) -> int:
        """So many keys a complete pass has met."""
        row = fetch_one(self._db, "SELECT count(*) FROM seen WHERE topic = ? AND generation = ?", topic, generation)
        return int(row[0]) if row else 0

    def begin_pass(self, topic: str) -> None:
        """A complete pass begins: what one before it has met, and never came to its end, is met by nobody any more."""
        with self.transaction():
            self._db.execute("DELETE FROM seen WHERE topic = ?", (topic,))

    def delete_unseen(self, topic: str, generation: int) -> int:
        """Ends a complete pass: drops what it has not seen of `product`, `stock`, `location`, `order` or `delivery`;
        how many."""
        with self.transaction():
            if topic == PRODUCT_TOPIC:
                gone = updated_values(self._db, delete_unseen_products(self._db, generation))
            elif topic == STOCK_TOPIC:
                gone = updated_values(self._db, delete_unseen_stock(self._db, generation))
            elif topic == ORDER_TOPIC:
                gone = delete_orders(self._db, find_unseen_orders(self._db, generation))
            elif topic == DELIVERY_TOPIC:
                gone = delete_deliveries(self._db, find_unseen_deliveries(self._db, generation))
                delete_orphan_codes(self._db)
            else:
                gone = delete_unseen_locations(self._db, generation)
            self._db.execute("DELETE FROM seen WHERE topic = ? AND generation <= ?", (topic, generation))
            self._log_changes(PRODUCT_TOPIC if topic == STOCK_TOPIC else topic, gone)
        return len(gone)

    def delete_log(self) -> None:
        """Drops all entries of the store's log: the service that had them was put back from an earlier copy."""
        with self.transaction():
            self._db.execute("DELETE FROM log")
            self._log_changes("log", [""])

    # State of the sync

    def cursor(self, topic: str) -> Json:
        """How far the sync of a topic has come; None at the beginning."""
        row = fetch_one(self._db, "SELECT cursor FROM sync WHERE topic = ?", topic)
        return None if row is None else json.loads(row[0])

    def set_cursor(self, topic: str, cursor: Json) -> None:
        """Notes how far the sync has come; belongs into the `batch` of its rows."""
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO sync (topic, cursor) VALUES (?, ?)", (topic, json.dumps(cursor)))

    def set_link(self, link: LinkRow) -> None:
        """Notes the state of the link."""
        with self.transaction():
            self._db.execute(
                "UPDATE link SET state = ifnull(?, state), last_ok = ifnull(?, last_ok), done = ifnull(?, done),"
                " total = ifnull(?, total), server = ifnull(?, server), features = ifnull(?, features)",
                link,
            )

    # How rows are put

    def _write_rows(
        self,
        topic: str,
        rows: Iterable[Any],
        parse_row: Callable[[Any], Any],
        key: Callable[[Any], str],
        write: Callable[[apsw.Connection, Any], tuple[str, ...]],
        generation: int,
    ) -> WriteResult:
        good, bad = parse_rows(rows, parse_row)
        keys = tuple(key(row) for row in good)
        with self.transaction():
            changed = write(self._db, good)
            self._log_changes(PRODUCT_TOPIC if topic == STOCK_TOPIC else topic, changed)
            if generation:
                self._db.executemany(
                    "INSERT OR IGNORE INTO seen (topic, generation, key) VALUES (?, ?, ?)",
                    [(topic, generation, name) for name in sorted(keys)],
                )
        return WriteResult(keys, changed, bad)

    def _log_changes(self, topic: str, keys: Sequence[str]) -> None:
        if not keys:
            return
        entries = [(topic, key) for key in keys] if len(keys) <= MAX_KEYED_CHANGES else [(topic, "")]
        self._db.executemany("INSERT INTO change (topic, key) VALUES (?, ?)", entries)
        self._db.execute("DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?", (FEED_ENTRIES,))
