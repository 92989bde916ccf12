"""cache.db from the courier's side: the one writer of what the service says. Sessions read it by `local.reads`.

Rows are raw answers of the service. Those that make no sense are left out and handed back with the reason; all others
are written in one transaction, with the cursor of the sync where it is set in the same `batch`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.local.cache import rows as parse
from aisle.local.cache.assignments import assignment_row, write_assignments
from aisle.local.cache.deliveries import (
    delivery_row,
    drop_deliveries,
    drop_receipts,
    drop_strange_codes,
    receipt_row,
    unseen_deliveries,
    write_deliveries,
    write_receipts,
)
from aisle.local.cache.differences import revalued
from aisle.local.cache.file import open_cache
from aisle.local.cache.locations import drop_locations, write_locations
from aisle.local.cache.logs import LogRow, log_row, write_logs
from aisle.local.cache.order_rows import order_lines, order_row
from aisle.local.cache.orders import Read, drop_orders, unseen_orders, write_orders
from aisle.local.cache.people import write_people
from aisle.local.cache.products import (
    Skipped,
    Written,
    drop_products,
    drop_stock,
    parsed,
    write_products,
    write_stock,
    write_surrounding,
)
from aisle.local.cache.recounts import recount_row, write_recounts
from aisle.local.cache.schema import ABSENT, FEED, MANY
from aisle.local.cache.stores import drop_stores, knows_store, other_stores, write_store_said, write_stores
from aisle.local.db import fetch, fetch_one, transaction
from aisle.tuples import NamedTuple

__all__ = ["Cache", "Skipped", "Sync", "Written", "open_cache"]

ABSENT_KEPT = 100
"""Orders that the service does not have of which it is known that it said so."""

PRODUCT_TOPIC, STOCK_TOPIC, ORDER_TOPIC, LOCATION_TOPIC = "product", "stock", "order", "location"
DELIVERY_TOPIC, ABSENT_TOPIC = "delivery", "absent"


class Sync(NamedTuple):
    """The state of the link, as the courier sees it. None leaves a value as it is."""

    state: str | None = None
    """See aisle.jobs.view.Link."""
    last_ok: float | None = None
    """When the service last confirmed the cache, in seconds since 1970."""
    done: int | None = None
    total: int | None = None
    server: str | None = None
    features: str | None = None


class Cache:
    """The tables of cache.db, to be written. One instance a process."""

    def __init__(self, connection: apsw.Connection, store: str) -> None:
        self._db = connection
        self._store = store

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Everything inside is one transaction; without it each method makes its own."""
        if self._db.in_transaction:
            yield
        else:
            with transaction(self._db):
                yield

    # Rows of the service

    def put_products(self, rows: Iterable[Any], generation: int = 0) -> Written:
        """Products of the catalogue. interface: Product.

        `generation` (also below) numbers a complete pass that is to end with `sweep`; 0 for anything else.
        """

        def write(connection: apsw.Connection, fresh: Sequence[parse.ProductRow]) -> tuple[str, ...]:
            return revalued(connection, write_products(connection, fresh))

        return self._put(PRODUCT_TOPIC, rows, parse.product, lambda row: row.product_number, write, generation)

    def put_stock(self, rows: Iterable[Any], generation: int = 0, read_began: float = 0.0) -> Written:
        """Stock entries of this store; with `store_locations` where they were asked for.

        interface: Store product stock entry. Places that an entry does not speak of stay as they were. `read_began`:
        seconds since 1970, taken before the request left; what was confirmed before then is in the rows already. 0
        where nobody knows.
        """

        def write(connection: apsw.Connection, fresh: Sequence[parse.StockRow]) -> tuple[str, ...]:
            return revalued(connection, write_stock(connection, fresh, read_began))

        return self._put(
            STOCK_TOPIC,
            rows,
            lambda row: parse.stock(row, self._store),
            lambda row: row.product_number,
            write,
            generation,
        )

    def put_orders(self, rows: Iterable[Any], lines_known: bool, read_began: float, generation: int = 0) -> Written:
        """Orders, with their lines (an empty list included) or headers only. interface: Customer order.

        `read_began`: seconds since 1970, taken before the request left. `changed` names those whose lines have to be
        read, when these were headers.
        """

        def order(raw: Any) -> Read:
            lines = order_lines(raw) if lines_known else None
            return Read(order_row(raw, lines), lines)

        def write(connection: apsw.Connection, reads: Sequence[Read]) -> tuple[str, ...]:
            return write_orders(connection, reads, read_began)

        return self._put(ORDER_TOPIC, rows, order, lambda read: read.header.order_number, write, generation)

    def put_locations(self, rows: Iterable[Any], generation: int = 0) -> Written:
        """Places of the store. interface: Location."""
        return self._put(
            LOCATION_TOPIC, rows, parse.location, lambda row: row.location_code, write_locations, generation
        )

    def put_stores(self, rows: Iterable[Any]) -> Written:
        """Stores of the chain. interface: Store. A store that is not among them stays."""
        return self._put("store", rows, parse.store, lambda row: row.store_number, write_stores, 0)

    def put_surrounding(self, number: str, rows: Iterable[Any], read_began: float, refused: str = "") -> None:
        """What the stores around and the warehouses have of a product. interface: Surrounding stock entry.

        `refused`: why the service does not say; what it said before is forgotten then.
        """
        good, _ = parsed(rows, parse.surrounding)
        with self.batch():
            write_surrounding(self._db, number, read_began, refused, good)
            self._log("surrounding", (number,))

    def put_logs(self, rows: Iterable[Any], since: str, losses: str = "") -> Written:
        """Entries of the store's log; what happened before that moment (ISO 8601 UTC) is forgotten, losses and finds
        before `losses`.

        interface: Store product log entry.
        """

        def write(connection: apsw.Connection, fresh: Sequence[LogRow]) -> tuple[str, ...]:
            return write_logs(connection, fresh, since, losses or since)

        return self._put("log", rows, log_row, lambda row: row.key, write, 0)

    def put_deliveries(self, rows: Iterable[Any], read_began: float, generation: int = 0) -> Written:
        """Deliveries to this store with their lines; `read_began` as for orders. interface: Delivery order."""
        return self._put(
            DELIVERY_TOPIC,
            rows,
            lambda row: delivery_row(row, self._store),
            lambda row: row.order_number,
            lambda connection, fresh: write_deliveries(connection, fresh, read_began),
            generation,
        )

    def put_receipts(self, rows: Iterable[Any]) -> Written:
        """What came of deliveries to this store. interface: Receipt order."""
        return self._put(
            DELIVERY_TOPIC,
            rows,
            lambda row: receipt_row(row, self._store),
            lambda row: row.order_number,
            write_receipts,
            0,
        )

    def keep_receipts(self, seen: Iterable[str]) -> None:
        """Ends a complete pass of the receipts: forgets those that it has not met, except those of deliveries here."""
        with self.batch():
            self._log(DELIVERY_TOPIC, drop_receipts(self._db, seen))

    def delivery_types(self) -> tuple[int, ...]:
        """The types of the deliveries that are known, as far as they are numbers."""
        rows = fetch(self._db, "SELECT DISTINCT raw ->> 'order_type' FROM delivery")
        return tuple(int(kind) for (kind,) in rows if str(kind).isdecimal())

    def forget_deliveries(self, numbers: Sequence[str]) -> None:
        """Takes deliveries out that the service does not have any more."""
        with self.batch():
            self._log(DELIVERY_TOPIC, drop_deliveries(self._db, numbers))

    def put_people(self, rows: Iterable[Any]) -> Written:
        """All people of the store: `user`, `name`, `badge`, `role`; others are forgotten."""
        return self._put("person", rows, parse.person, lambda row: row.user, write_people, 0)

    def put_assignments(self, rows: Iterable[Any]) -> Written:
        """All that clearances want moved and that is not moved yet; others are forgotten."""
        return self._put("assignment", rows, assignment_row, lambda row: row.id, write_assignments, 0)

    def assignments(self) -> set[str]:
        """The ids of those that are known."""
        return {str(id_) for (id_,) in fetch(self._db, "SELECT id FROM assignment")}

    def keep_stores(self, seen: Iterable[str]) -> None:
        """Ends a complete pass of the stores: forgets those that it has not met."""
        with self.batch():
            self._log("store", drop_stores(self._db, other_stores(self._db, seen)))

    def put_store_said(self, number: str, said: Any, began: float, refused: str = "") -> Written:
        """All that was said of a store when it was made; None, and why, where the service does not tell."""
        with self.batch():
            changed = write_store_said(self._db, number, said, refused, began)
            self._log("store", changed)
        return Written((number,), changed, ())

    def knows_store(self, number: str) -> bool:
        """Whether more than the list says of a store was ever asked for."""
        return knows_store(self._db, number)

    def put_recounts(self, rows: Iterable[Any]) -> Written:
        """All counts that are ordered and open at the service; others are forgotten."""
        return self._put("recount", rows, recount_row, lambda row: row.id, write_recounts, 0)

    def forget_orders(self, numbers: Sequence[str], *, read_began: float) -> tuple[str, ...]:
        """Takes orders out that the service did not have when it was asked; of the last of them is kept when that was,
        and each time it is told, for whoever has asked for one. Those of which that is news: who works on one asks
        again when he hears that the order itself has changed, and would never come to an end."""
        with self.batch():
            known: dict[str, float] = dict(self.cursor(ABSENT) or ())
            gone = {*drop_orders(self._db, numbers), *(number for number in numbers if number not in known)}
            news = tuple(number for number in numbers if number in gone)
            said = {
                **{each: known[each] for each in known if each not in numbers},
                **dict.fromkeys(numbers, read_began),
            }
            self.set_cursor(ABSENT, [[*each] for each in said.items()][-ABSENT_KEPT:])
            self._log(ORDER_TOPIC, news)
            self._log(ABSENT_TOPIC, numbers)
        return news

    def unseen_orders(self, generation: int) -> tuple[str, ...]:
        """Active orders that a complete pass has not met: to be asked for one by one before they are forgotten."""
        return unseen_orders(self._db, generation)

    def orders_without_lines(self) -> tuple[str, ...]:
        """Open and picked orders that only a list has brought so far."""
        rows = fetch(self._db, "SELECT order_number FROM orders WHERE state < 2 AND lines_began IS NULL ORDER BY sort")
        return tuple(str(number) for (number,) in rows)

    def forget_closed(self, before: float) -> None:
        """Takes out what is finished or rejected and was last read before that moment (seconds since 1970)."""
        with self.batch():
            rows = fetch(self._db, "SELECT order_number FROM orders WHERE state = 2 AND header_began < ?", before)
            self._log(ORDER_TOPIC, drop_orders(self._db, [str(number) for (number,) in rows]))

    def note_seen(self, topic: str, generation: int, keys: Iterable[str]) -> None:
        """A complete pass has met these keys, although a younger read has brought their rows already."""
        with self.batch():
            self._db.executemany(
                "INSERT OR IGNORE INTO seen (topic, generation, key) VALUES (?, ?, ?)",
                [(topic, generation, key) for key in sorted(keys)],
            )

    def met(self, topic: str, generation: int) -> int:
        """So many keys a complete pass has met."""
        row = fetch_one(self._db, "SELECT count(*) FROM seen WHERE topic = ? AND generation = ?", topic, generation)
        return int(row[0]) if row else 0

    def begin_pass(self, topic: str) -> None:
        """A complete pass begins: what one before it has met, and never came to its end, is met by nobody any more."""
        with self.batch():
            self._db.execute("DELETE FROM seen WHERE topic = ?", (topic,))

    def sweep(self, topic: str, generation: int) -> int:
        """Ends a complete pass: drops what it has not seen of `product`, `stock`, `location`, `order` or `delivery`;
        how many."""
        with self.batch():
            if topic == PRODUCT_TOPIC:
                gone = revalued(self._db, drop_products(self._db, generation))
            elif topic == STOCK_TOPIC:
                gone = revalued(self._db, drop_stock(self._db, generation))
            elif topic == ORDER_TOPIC:
                gone = drop_orders(self._db, unseen_orders(self._db, generation))
            elif topic == DELIVERY_TOPIC:
                gone = drop_deliveries(self._db, unseen_deliveries(self._db, generation))
                drop_strange_codes(self._db)
            else:
                gone = drop_locations(self._db, generation)
            self._db.execute("DELETE FROM seen WHERE topic = ? AND generation <= ?", (topic, generation))
            self._log(PRODUCT_TOPIC if topic == STOCK_TOPIC else topic, gone)
        return len(gone)

    # State of the sync

    def cursor(self, topic: str) -> Json:
        """How far the sync of a topic has come; None at the beginning."""
        row = fetch_one(self._db, "SELECT cursor FROM sync WHERE topic = ?", topic)
        return None if row is None else json.loads(row[0])

    def set_cursor(self, topic: str, cursor: Json) -> None:
        """Notes how far the sync has come; belongs into the `batch` of its rows."""
        with self.batch():
            self._db.execute("INSERT OR REPLACE INTO sync (topic, cursor) VALUES (?, ?)", (topic, json.dumps(cursor)))

    def set_link(self, link: Sync) -> None:
        """Notes the state of the link."""
        with self.batch():
            self._db.execute(
                "UPDATE link SET state = ifnull(?, state), last_ok = ifnull(?, last_ok), done = ifnull(?, done),"
                " total = ifnull(?, total), server = ifnull(?, server), features = ifnull(?, features)",
                link,
            )

    # How rows are put

    def _put(
        self,
        topic: str,
        rows: Iterable[Any],
        parse_row: Callable[[Any], Any],
        key: Callable[[Any], str],
        write: Callable[[apsw.Connection, Any], tuple[str, ...]],
        generation: int,
    ) -> Written:
        good, bad = parsed(rows, parse_row)
        keys = tuple(key(row) for row in good)
        with self.batch():
            changed = write(self._db, good)
            self._log(PRODUCT_TOPIC if topic == STOCK_TOPIC else topic, changed)
            if generation:
                self._db.executemany(
                    "INSERT OR IGNORE INTO seen (topic, generation, key) VALUES (?, ?, ?)",
                    [(topic, generation, name) for name in sorted(keys)],
                )
        return Written(keys, changed, bad)

    def _log(self, topic: str, keys: Sequence[str]) -> None:
        if not keys:
            return
        entries = [(topic, key) for key in keys] if len(keys) <= MANY else [(topic, "")]
        self._db.executemany("INSERT INTO change (topic, key) VALUES (?, ?)", entries)
        self._db.execute("DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?", (FEED,))
