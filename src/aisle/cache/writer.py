"""The courier's side of cache.db: the only writer of the service's data. Sessions read it by `aisle.cache.reader`.

Rows are raw answers of the service. Invalid ones are left out and returned with the reason. All others are written in
one transaction, together with the cursor of the sync if it is set in the same `transaction`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from aisle.cache import delivery_writer as deliveries
from aisle.cache import log_and_difference_writer as log
from aisle.cache import order_writer, product_and_stock_writer
from aisle.cache import order_writer as orders
from aisle.cache import product_and_stock_writer as products
from aisle.cache import store_lists_writer as lists
from aisle.cache.product_code_writer import delete_orphan_codes
from aisle.cache.queries import open_for_reading
from aisle.cache.row_parsing_and_writing import SkippedRow, WriteResult, parse_rows
from aisle.cache.schema import ABSENT_ORDERS, CACHE_TABLES, FEED_ENTRIES, MAX_KEYED_CHANGES, SCHEMA_VERSION
from aisle.errors import StorageError
from aisle.host.database import check_not_newer, connect, empty_database, fetch, fetch_one, schema_version, transaction
from aisle.jobs.job import Json
from aisle.settings.process_time_zone import LOCALTIME

__all__ = ["CacheWriter", "LinkRow", "SkippedRow", "WriteResult", "open_cache"]

MAX_ABSENT_ORDERS = 100
"""Greatest number of orders that are recorded as absent at the service."""

PRODUCT_TOPIC, STOCK_TOPIC, ORDER_TOPIC, LOCATION_TOPIC = "product", "stock", "order", "location"
DELIVERY_TOPIC, ABSENT_TOPIC = "delivery", "absent"


_DELETE_UNSEEN: Mapping[str, Callable[[apsw.Connection, int], tuple[str, ...]]] = {
    PRODUCT_TOPIC: products.delete_unseen_products,
    STOCK_TOPIC: products.delete_unseen_stock,
    ORDER_TOPIC: lambda db, generation: orders.delete_orders(db, orders.find_unseen_orders(db, generation)),
    LOCATION_TOPIC: lists.delete_unseen_locations,
    DELIVERY_TOPIC: lambda db, generation: deliveries.delete_deliveries(
        db, deliveries.find_unseen_deliveries(db, generation)
    ),
}
"""Functions that delete the rows of a topic that a complete pass has not seen, and return their keys."""


class LinkRow(NamedTuple):
    """State of the link as the courier sees it. None leaves a value unchanged."""

    state: str | None = None
    """One of the states of aisle.jobs.view.LinkState."""
    last_ok: float | None = None
    """Time at which the service last confirmed the cache, in seconds since 1970."""
    done: int | None = None
    total: int | None = None
    server: str | None = None
    features: str | None = None


class CacheWriter:
    """Writer of the tables of cache.db. One instance per process."""

    def __init__(self, connection: apsw.Connection, store: str) -> None:
        self._db = connection
        self._store = store

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in one transaction; without it each method has its own."""
        if self._db.in_transaction:
            yield
        else:
            with transaction(self._db):
                yield

    # Rows of the service

    def write_products(self, rows: Iterable[Any], generation: int = 0) -> WriteResult:
        """Write products of the catalogue. interface: Product.

        `generation` (also below) is the number of a complete pass that ends with `delete_unseen`; 0 otherwise.
        """
        return self._write_rows(
            PRODUCT_TOPIC, rows, product_and_stock_writer.parse_product, products.write_products, generation
        )

    def write_stock(self, rows: Iterable[Any], generation: int = 0, read_began: float = 0.0) -> WriteResult:
        """Write stock entries of this store, with `store_locations` if they were requested.

        Locations that an entry does not mention stay unchanged. `read_began`: time before the request was sent, in
        seconds since 1970, 0 if unknown; operations confirmed before then are included in the rows. interface: Store
        product stock entry.
        """
        parse, write = (
            partial(product_and_stock_writer.parse_stock, store=self._store),
            partial(products.write_stock, read_began=read_began),
        )
        return self._write_rows(STOCK_TOPIC, rows, parse, write, generation)

    def write_orders(
        self, rows: Iterable[Any], lines_known: bool, read_began: float, generation: int = 0
    ) -> WriteResult:
        """Write orders, with their lines (an empty list included) or headers only. interface: Customer order.

        `read_began`: time before the request was sent, in seconds since 1970. If only headers were read, `changed` of
        the result names the orders whose lines have to be read.
        """

        def parse(raw: Any) -> orders.OrderRead:
            lines = order_writer.parse_order_lines(raw) if lines_known else None
            header = order_writer.parse_order(raw, lines)
            return orders.OrderRead(header.order_number, header, lines)

        return self._write_rows(
            ORDER_TOPIC, rows, parse, partial(orders.write_orders, read_began=read_began), generation
        )

    def write_locations(self, rows: Iterable[Any], generation: int = 0) -> WriteResult:
        """Write locations of the store. interface: Location."""
        return self._write_rows(LOCATION_TOPIC, rows, lists.parse_location, lists.write_locations, generation)

    def write_stores(self, rows: Iterable[Any]) -> WriteResult:
        """Write stores of the chain; stores that are not among them stay. interface: Store."""
        return self._write_rows("store", rows, lists.parse_store, lists.write_stores)

    def write_surrounding(self, number: str, rows: Iterable[Any], read_began: float, refusal: str = "") -> None:
        """Write the stock of a product in nearby stores and warehouses. interface: Surrounding stock entry.

        `refusal`: reason of the service for not telling; it replaces earlier stock.
        """
        good, _ = parse_rows(rows, product_and_stock_writer.parse_surrounding)
        with self.transaction():
            products.write_surrounding(self._db, number, read_began, refusal, good)
            self._log_changes("surrounding", (number,))

    def write_order_audit(self, number: str, entries: Sequence[Mapping[str, Any]], read_began: float) -> bool:
        """Write who changed an order. Return True if that is news."""
        with self.transaction():
            is_new = orders.write_order_audit(self._db, number, entries, read_began)
            if is_new:
                self._log_changes("order", (number,))
        return is_new

    def write_logs(self, rows: Iterable[Any], since: str, losses_since: str = "") -> WriteResult:
        """Write entries of the store's log, and delete those before `since` (ISO 8601 UTC).

        Losses and finds are deleted before `losses_since`. interface: Store product log entry.
        """
        write = partial(log.write_logs, since=since, losses_since=losses_since or since)
        return self._write_rows("log", rows, log.parse_log_entry, write)

    def write_deliveries(self, rows: Iterable[Any], read_began: float, generation: int = 0) -> WriteResult:
        """Write deliveries to this store with their lines; `read_began` as for orders. interface: Delivery order."""
        parse, write = (
            partial(deliveries.parse_delivery, store=self._store),
            partial(deliveries.write_deliveries, read_began=read_began),
        )
        return self._write_rows(DELIVERY_TOPIC, rows, parse, write, generation)

    def write_receipts(self, rows: Iterable[Any]) -> WriteResult:
        """Write receipts of deliveries to this store. interface: Receipt order."""
        return self._write_rows(
            DELIVERY_TOPIC,
            rows,
            partial(deliveries.parse_receipt, store=self._store),
            deliveries.write_receipts,
        )

    def delete_unseen_receipts(self, seen: Iterable[str]) -> None:
        """End a complete pass of the receipts: delete those not seen, except those of cached deliveries."""
        with self.transaction():
            self._log_changes(DELIVERY_TOPIC, deliveries.delete_unseen_receipts(self._db, seen))

    def delivery_types(self) -> tuple[int, ...]:
        """Return the numeric types of the cached deliveries."""
        rows = fetch(self._db, "SELECT DISTINCT raw ->> 'order_type' FROM delivery")
        return tuple(int(kind) for (kind,) in rows if str(kind).isdecimal())

    def delete_deliveries(self, numbers: Sequence[str]) -> None:
        """Delete deliveries that the service no longer has."""
        with self.transaction():
            self._log_changes(DELIVERY_TOPIC, deliveries.delete_deliveries(self._db, numbers))

    def write_people(self, rows: Iterable[Any]) -> WriteResult:
        """Replace all people of the store: `user`, `name`, `badge`, `role`."""
        return self._write_rows("person", rows, lists.parse_person, lists.write_people)

    def write_assignments(self, rows: Iterable[Any]) -> WriteResult:
        """Replace all assignments of clearances that are still to be moved."""
        return self._write_rows("assignment", rows, lists.parse_assignment, lists.write_assignments)

    def assignment_ids(self) -> set[str]:
        """Return the ids of the cached assignments."""
        return {str(id_) for (id_,) in fetch(self._db, "SELECT id FROM assignment")}

    def delete_unseen_stores(self, seen: Iterable[str]) -> None:
        """End a complete pass of the stores: delete those not seen."""
        with self.transaction():
            self._log_changes("store", lists.delete_unseen_stores(self._db, seen))

    def write_store_details(self, number: str, details: Any, read_began: float, refusal: str = "") -> WriteResult:
        """Write the details of a store from its creation; None and the reason if the service refuses them."""
        with self.transaction():
            changed = lists.write_store_details(self._db, number, details, refusal, read_began)
            self._log_changes("store", changed)
        return WriteResult((number,), changed, ())

    def has_store_details(self, number: str) -> bool:
        """Return True if the details of a store were ever requested."""
        return bool(fetch(self._db, "SELECT 1 FROM store_details WHERE store_number = ?", number))

    def write_recounts(self, rows: Iterable[Any]) -> WriteResult:
        """Replace all ordered recounts that are open at the service."""
        return self._write_rows("recount", rows, lists.parse_recount, lists.write_recounts)

    def delete_absent_orders(self, numbers: Sequence[str], *, read_began: float) -> tuple[str, ...]:
        """Delete orders that the service did not have when asked, and record the time of the question.

        Sessions hear of each of them on the topic `absent`. The topic `order`, and the result, have only those that are
        newly absent: a session that works on an order asks again when the order changes, which would never end.
        """
        with self.transaction():
            known_absent: dict[str, float] = dict(self.cursor(ABSENT_ORDERS) or ())
            newly_gone = {
                *orders.delete_orders(self._db, numbers),
                *(number for number in numbers if number not in known_absent),
            }
            new_absent = tuple(number for number in numbers if number in newly_gone)
            absent_at = {
                **{each: known_absent[each] for each in known_absent if each not in numbers},
                **dict.fromkeys(numbers, read_began),
            }
            self.set_cursor(ABSENT_ORDERS, [[*each] for each in absent_at.items()][-MAX_ABSENT_ORDERS:])
            self._log_changes(ORDER_TOPIC, new_absent)
            self._log_changes(ABSENT_TOPIC, numbers)
        return new_absent

    def find_unseen_orders(self, generation: int) -> tuple[str, ...]:
        """Return the active orders that a complete pass has not seen; each is asked for before it is deleted."""
        return orders.find_unseen_orders(self._db, generation)

    def orders_without_lines(self) -> tuple[str, ...]:
        """Return the open and picked orders whose lines were never read."""
        rows = fetch(
            self._db, "SELECT order_number FROM orders WHERE state < 2 AND lines_read_began IS NULL ORDER BY sort"
        )
        return tuple(str(number) for (number,) in rows)

    def delete_closed_orders(self, before: float) -> None:
        """Delete finished and rejected orders that were last read before that moment (seconds since 1970).

        The setting `keep_orders_days` is for the service's database (`cli/purge`), not for this one.
        """
        with self.transaction():
            rows = fetch(self._db, "SELECT order_number FROM orders WHERE state = 2 AND header_read_began < ?", before)
            self._log_changes(ORDER_TOPIC, orders.delete_orders(self._db, [str(number) for (number,) in rows]))

    def mark_seen(self, topic: str, generation: int, keys: Iterable[str]) -> None:
        """Record keys as seen by a complete pass, although a later read has written their rows already."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO seen_key (topic, generation, key) VALUES (?, ?, ?)",
                [(topic, generation, key) for key in sorted(keys)],
            )

    def count_seen(self, topic: str, generation: int) -> int:
        """Return the number of keys that a complete pass has seen."""
        row = fetch_one(self._db, "SELECT count(*) FROM seen_key WHERE topic = ? AND generation = ?", topic, generation)
        return int(row[0]) if row else 0

    def begin_pass(self, topic: str) -> None:
        """Begin a complete pass: delete what an unfinished earlier pass has seen."""
        with self.transaction():
            self._db.execute("DELETE FROM seen_key WHERE topic = ?", (topic,))

    def delete_unseen(self, topic: str, generation: int) -> int:
        """End a complete pass: delete the rows of the topic that it has not seen. Return their number.

        Topics: `product`, `stock`, `location`, `order`, `delivery`.
        """
        with self.transaction():
            deleted = _DELETE_UNSEEN[topic](self._db, generation)
            if topic in (PRODUCT_TOPIC, STOCK_TOPIC):
                log.update_values(self._db, deleted)
            if topic == DELIVERY_TOPIC:
                delete_orphan_codes(self._db)
            self._db.execute("DELETE FROM seen_key WHERE topic = ? AND generation <= ?", (topic, generation))
            self._log_changes(PRODUCT_TOPIC if topic == STOCK_TOPIC else topic, deleted)
        return len(deleted)

    def delete_log(self) -> None:
        """Delete the store's log, because its service was restored from an earlier copy."""
        with self.transaction():
            self._db.execute("DELETE FROM log")
            self._log_changes("log", [""])

    # State of the sync

    def cursor(self, topic: str) -> Json:
        """Return the cursor of a topic's sync; None at the beginning."""
        row = fetch_one(self._db, "SELECT cursor FROM sync WHERE topic = ?", topic)
        return None if row is None else json.loads(row[0])

    def set_cursor(self, topic: str, cursor: Json) -> None:
        """Store the cursor of a topic's sync; belongs into the `transaction` of its rows."""
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO sync (topic, cursor) VALUES (?, ?)", (topic, json.dumps(cursor)))

    def set_link(self, link: LinkRow) -> None:
        """Store the state of the link."""
        with self.transaction():
            self._db.execute(
                "UPDATE link SET state = ifnull(?, state), last_ok = ifnull(?, last_ok), done = ifnull(?, done),"
                " total = ifnull(?, total), server = ifnull(?, server), features = ifnull(?, features)",
                link,
            )

    # Writing

    def _write_rows(
        self,
        topic: str,
        rows: Iterable[Any],
        parse_row: Callable[[Any], tuple[Any, ...]],
        write: Callable[[apsw.Connection, Any], tuple[str, ...]],
        generation: int = 0,
    ) -> WriteResult:
        """Parse and write rows; the first column of a parsed row is its key."""
        good, bad = parse_rows(rows, parse_row)
        keys = tuple(str(row[0]) for row in good)
        with self.transaction():
            changed = write(self._db, good)
            if topic in (PRODUCT_TOPIC, STOCK_TOPIC):
                log.update_values(self._db, changed)
            self._log_changes(PRODUCT_TOPIC if topic == STOCK_TOPIC else topic, changed)
            if generation:
                self.mark_seen(topic, generation, keys)
        return WriteResult(keys, changed, bad)

    def _log_changes(self, topic: str, keys: Sequence[str]) -> None:
        if not keys:
            return
        entries = [(topic, key) for key in keys] if len(keys) <= MAX_KEYED_CHANGES else [(topic, "")]
        self._db.executemany("INSERT INTO change (topic, key) VALUES (?, ?)", entries)
        self._db.execute("DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?", (FEED_ENTRIES,))


WAL_PAGES = 4096
"""Pages of the write-ahead log at which the one writer checkpoints. A full sync writes a hundred times as many."""


def open_cache(folder: Path, *, writer: bool) -> apsw.Connection:
    """Open the cache of a home folder. Raise StorageError if there is none that can be read.

    The writer creates the file, and empties one that is damaged or of an older version. The change feed of the new file
    continues above the numbers of the old one. The writer also recomputes days and times if the zone of this process is
    another one. A file of a newer program is never changed. A reader gets the file as it is.
    """
    path = folder / "cache.db"
    if not writer:
        return open_for_reading(folder)
    if not path.exists():
        for log in ("-wal", "-shm"):  # left by a deleted database; SQLite must not read them into the new one
            path.with_name(path.name + log).unlink(missing_ok=True)
    try:
        connection = connect(path)
        found = schema_version(connection)
    except StorageError as error:
        if not isinstance(error.__cause__, apsw.CorruptError | apsw.NotADBError):
            raise
        found = -1
    if found > SCHEMA_VERSION:
        with closing(connection):
            check_not_newer(connection, SCHEMA_VERSION)
    if found not in (0, SCHEMA_VERSION):
        empty_database(path)
        connection = connect(path)
    if schema_version(connection) == 0:
        with transaction(connection):
            connection.execute(CACHE_TABLES).fetchall()
            connection.execute("INSERT INTO sqlite_sequence VALUES ('change', ?)", (int(time.time() * 1000),))
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
    connection.wal_autocheckpoint(WAL_PAGES)

    recompute_times(connection)
    return connection


ZONE_TOPIC = "zone"
"""Row of `sync` with the zone.

Rows with unchanged text are never written again, so no later read would correct their times.
"""


def recompute_times(connection: apsw.Connection) -> tuple[str, ...]:
    """Recompute the stored times if the zone of this process differs from that of the last writer.

    Return the topics in which anything changed.
    """
    zone = json.dumps(_zone_identity())
    stored = fetch_one(connection, "SELECT cursor FROM sync WHERE topic = ?", ZONE_TOPIC)
    if stored is not None and stored[0] == zone:
        return ()
    with transaction(connection):
        changed_counts = {
            "order": orders.recompute_pickup_times(connection),
            "delivery": deliveries.recompute_due_times(connection),
            "log": log.recompute_log_times(connection),
        }
        changed = tuple(topic for topic, count in changed_counts.items() if count)
        connection.executemany("INSERT INTO change (topic, key) VALUES (?, '')", [(topic,) for topic in changed])
        connection.execute("INSERT OR REPLACE INTO sync (topic, cursor) VALUES (?, ?)", (ZONE_TOPIC, zone))
    return changed


def _zone_identity() -> str:
    """Return a text that identifies the zone of this process: its name, or a hash of the host's zone file."""
    variable = os.environ.get("TZ")
    if variable is not None:
        return variable
    try:
        with open(LOCALTIME, "rb") as stream:
            return f"{LOCALTIME} {sha256(stream.read()).hexdigest()}"
    except OSError:
        return LOCALTIME
