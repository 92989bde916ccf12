"""Stock in the service before a load: which products keep stock, which counts were loaded before, and which
locations others have counted since: their quantity stays without `--recount`.

So an interrupted load counts nothing twice (`counts_sent_once`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Container, Iterable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import FileNotes, LoadError, unread_error
from aisle.client.csv_load.service_reads import MAX_SINGLE_READS, location_codes, queries_for
from aisle.client.csv_load.work_during_load import LOAD_REFERENCE, is_conditional
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError, Forbidden, NotFound, TransportError
from aisle.contract.request_encoding import QueryValue

_CHAIN = ""
"""Key of the chain's product list, beside the stores' lists."""


class ProductStock(NamedTuple):
    """Stock of a product in a store before the load, by pool; `is_tracked` is False if it keeps no stock.

    `spots` has the same by location (empty for none) and pool. `is_counted` is True if the service says when it was
    counted.
    """

    is_tracked: bool
    pools: Mapping[str, Decimal]
    spots: Mapping[tuple[str, str], Decimal] = {}
    is_counted: bool = False

    def at_places(self, pool: str = "") -> Decimal:
        """Return the stock of a pool at locations; without a pool, of all pools."""
        return sum((quantity for (code, of), quantity in self.spots.items() if code and pool in ("", of)), Decimal(0))


_NO_STOCK = ProductStock(True, {})


class TrackedStock:
    """Stock of products, read before the first count of a store is sent.

    A product's entry in the store's stock list decides; otherwise the product itself.
    """

    def __init__(self, client: Client, table: CsvTable) -> None:
        self._client = client
        self._table = table
        self._named: dict[str, set[str]] = {}
        self._lists: dict[str, dict[str, ProductStock]] = {}
        self._changed: set[tuple[str, str]] = set()
        """Stores and products whose stock others changed after it was read."""

    def forget(self, store: str, product: str) -> None:
        """Read the stock of a product again when it is needed."""
        self._changed.add((store, product))

    async def get(self, store: str, product: str) -> ProductStock:
        """Return what the service has of the product in the store."""
        of_chain, of_store = await self._list(_CHAIN), await self._list(store)
        if (store, product) in self._changed:
            self._changed.discard((store, product))
            of_store.pop(product, None)
            of_store |= await self._read(store, {"product_number": product})
        return of_store.get(product) or of_chain.get(product) or _NO_STOCK

    async def _list(self, at: str) -> dict[str, ProductStock]:
        """Return the products of a list, without those that are as if it had none."""
        if at not in self._lists:
            found: dict[str, ProductStock] = {}
            for query in queries_for("product_number", self._products_named().get(at, ())):
                found |= await self._read(at, query)
            of_chain = self._lists.get(_CHAIN, {})
            self._lists[at] = {one: kept for one, kept in found.items() if kept != _NO_STOCK or one in of_chain}
        return self._lists[at]

    def _products_named(self) -> dict[str, set[str]]:
        """Return the products of the file, by store and of the chain; of many, one more than are read one by one."""
        if not self._named:
            for _, (store, product) in self._table.select_cells(("store_number", "product_number")):
                for named in (self._named.setdefault(store, set()), self._named.setdefault(_CHAIN, set())):
                    if len(named) <= MAX_SINGLE_READS:
                        named.add(product)
        return self._named

    async def _read(self, store: str, filters: Mapping[str, QueryValue]) -> dict[str, ProductStock]:
        """Return the products of a list; if it cannot be read, none, with a warning.

        Raise LoadError if the service does not respond.
        """
        try:
            return {str(row.get("product_number")): _kept(row) async for row in self._read_rows(store, filters)}
        except (Forbidden, NotFound):
            return {}  # the counts of the store will be refused with a reason
        except TransportError as error:
            raise unread_error("Which products keep stock", error) from error
        except ClientError as error:
            self._table.notes.add_file_warning(f"which products keep stock could not be read: {error}")
            return {}

    def _read_rows(self, store: str, filters: Mapping[str, QueryValue]) -> AsyncIterator[Row]:
        operation = "list-products" if store == _CHAIN else "list-store-products-stock"
        of_store: dict[str, QueryValue] = {} if store == _CHAIN else {"store_number": store, "include_locations": True}
        return self._client.rows(operation, query={**filters, **of_store})


def _kept(row: Row) -> ProductStock:
    pools = _pools(row, "most_likely_pool_")
    spots = {
        (str(place.get("store_location_code") or ""), pool): quantity
        for place in row.get("store_locations") or ()
        for pool, quantity in _pools(place, "stock_pool_").items()
    }
    for pool in {*pools, *(of for _, of in spots)}:
        if rest := pools.get(pool, Decimal(0)) - sum(have for (_, of), have in spots.items() if of == pool):
            spots["", pool] = rest
    return ProductStock(row.get("is_stock") is not False, pools, spots, bool(row.get("last_counted_datetime")))


def _pools(row: Row, prefix: str) -> dict[str, Decimal]:
    found = (row.get(f"{prefix}{pool}") for pool in range(1, 11))
    return {f"stock_pool_{at}": Decimal(str(quantity)) for at, quantity in enumerate(found, 1) if quantity}


COUNT_FIELD = "counted_quantity"
_LOCATION_FIELDS = ("product_number", "location_code")
_TIME_FIELDS = ("moved_on", "created_on", "updated_on")
_MINUTE_LENGTH = len("2026-11-27T18:00")
_ROW_FIELDS = ("store_number", *_LOCATION_FIELDS, "stock_pool")
_MOVED_ADVICE = (
    ", which the file no longer names; it is left as it is (where the goods lie elsewhere now, put all rows of the"
    " product but totals in a stock.csv in a folder of its own, beside a row with 0 for each {} named here, and load"
    " that with --recount)"
)
NO_LOCATION = "no place"
ProductLocation = tuple[str, str]
"""Product number and location code."""
Pools = dict[str, Decimal]


class CountLog(NamedTuple):
    """Counts in the log of a store."""

    loaded: dict[str, dict[str, Pools]]
    """Counts of earlier loads, by product and location."""
    other_counts: dict[ProductLocation, tuple[str, str]]
    """Time and user of the last other count; empty until it is needed."""
    other_work: dict[str, set[tuple[str, str]]]
    """Locations (empty for none) and pools (empty if not said) with other entries, by product; empty until needed."""


class SplitCount(NamedTuple):
    """Count before it is sent: the part that is new, the rows that were loaded before, and where other work was done.

    Rows whose goods were loaded elsewhere are in neither; their warnings say what to do. `other_rows` is the number of
    rows loaded before with another figure.

    `worked` has the locations (empty for none) and pools (empty if not said) of the product at which the log has
    entries that are no load.
    """

    new: Record | None
    loaded_rows: tuple[int, ...] = ()
    other_rows: int = 0
    worked: AbstractSet[tuple[str, str]] = frozenset()


class SpotsOfFile:
    """Locations and pools at which the file has rows of a product, and without a location counts, by hashes.

    A row without a location that is read as a total makes no count.
    """

    def __init__(self, table: CsvTable | None) -> None:
        self._table = table
        self._rows: set[int] | None = None
        self._placeless: set[int] = set()
        self.rows_left: Counter[str] = Counter()
        """Number of rows of each store, of which `LoadedStock` has not seen the count."""

    def see(self, count: Record) -> None:
        """Record a count of the file, sent or not. Those without a location come before the others of a product."""
        self.scan()
        if "location_code" not in count.body:
            spot = count.store, count.body["product_number"], ""
            self._placeless |= {hash(spot), *(hash((*spot, name)) for name in count.field_rows)}

    def has_row(self, count: Record, place: str, *pool: str) -> bool:
        """Return True if the file has a row of a count's product at a location, and in that pool."""
        return hash((count.store, count.body["product_number"], place, *pool)) in self.scan()

    def has_count(self, count: Record, place: str, *pool: str) -> bool:
        """Return True if the file has such a row, or a count that was seen if there is no location."""
        spot = count.store, count.body["product_number"], place, *pool
        return self.has_row(count, place, *pool) if place else hash(spot) in self._placeless

    def scan(self) -> set[int]:
        """Return hashes of the file's products with their locations, and with their pools there."""
        if self._rows is None:
            self._rows = set()
            for _, (store, *where, pool) in self._table.select_cells(_ROW_FIELDS) if self._table else ():
                self.rows_left[store] += 1
                name = f"stock_pool_{pool}" if pool else COUNT_FIELD
                self._rows |= {hash((store, *where)), hash((store, *where, name))}
        return self._rows


class LoadedStock:
    """Counts in the log of each store, read before its first count is sent.

    A log is kept until the store's last count: read again, it would contain the counts of this load.
    """

    def __init__(self, client: Client, table: CsvTable | None = None) -> None:
        """Store the collaborators. `table` is the file with the counts."""
        self._client = client
        self.spots = SpotsOfFile(table)
        self._created: set[int] = set()
        """Hashes of the products that this load creates."""
        self._is_own: bool | None = None
        """True if the service is one of ours; None until that is needed."""
        self._places: dict[str, set[str]] = {}
        self._logs_by_store: dict[str, CountLog] = {}
        self._fully_read_stores: set[str] = set()

    def add_created(self, products: Iterable[str]) -> None:
        """Record products that this load creates: what the log has of their numbers is of deleted products."""
        self._created.update(map(hash, products))

    async def _is_of_deleted(self, log: CountLog, count: Record, kept: ProductStock) -> bool:
        """Return True if the log's entries of a product are of a deleted one with its number.

        A service of ours says of each product whether it was counted, so an interrupted load may have created it.
        """
        product = count.body["product_number"]
        if kept.is_counted or any(kept.spots.values()):
            return False
        return hash(product) in self._created or (product in log.loaded and await self._is_own_service())

    async def _is_own_service(self) -> bool:
        if self._is_own is None:
            try:
                self._is_own = is_conditional(await self._client.request("list-stores", query={"page_size": 1}))
            except TransportError as error:
                raise unread_error("Whether the service is one of ours", error) from error
        return self._is_own

    async def split_new(self, count: Record, kept: ProductStock, notes: FileNotes) -> SplitCount:
        """Return the part of a count that was not loaded before, if any, and the rows of the other part.

        Add warnings for rows with another figure than was loaded, or whose location was counted otherwise. Raise
        LoadError if the log cannot be read.
        """
        log = await self._read_log(count.store)
        is_of_deleted = await self._is_of_deleted(log, count, kept)
        found = SplitCount(count) if is_of_deleted else await self._split_by_log(log, count, notes)
        self.spots.rows_left[count.store] -= len(count.field_rows)
        if self.spots.rows_left[count.store] <= 0:
            del self._logs_by_store[count.store]  # the logs of a chain would fill the memory
        return found

    async def _split_by_log(self, log: CountLog, count: Record, notes: FileNotes) -> SplitCount:
        product, code = _location_key(count.body)
        loaded = log.loaded.get(product, {}).get(code)
        if loaded is None:
            other = self._loaded_elsewhere(log, count)
            if other and code and not await self._is_place(count.store, code):
                return SplitCount(count)  # the service refuses it, with a better reason
            if other:
                _warn_of_location(count, other, notes)
                return SplitCount(None)
            new = await self._skip_if_counted(log, count, notes)
            return SplitCount(new, worked=log.other_work.get(product, set()))
        left = {name: line for name, line in count.field_rows.items() if name == COUNT_FIELD or name in loaded}
        differing = sum(
            _warn_of_difference(count.body, name, line, loaded, notes)
            for name, line in (left.items() if not count.is_beside else ())
        )
        if len(left) < len(count.field_rows) and (gone := self._pools_no_longer_named(count, loaded)):
            then = _format_pools({name: loaded[name] for name in gone})
            for name, line in count.field_rows.items():
                if name not in left:
                    value = f"{product}: {then} then, {_format_pool(name)} now"
                    what = f"the stock was loaded before in another pool{_MOVED_ADVICE.format('pool')}"
                    notes.add_warning(what, value, line)
            return SplitCount(None, tuple(left.values()), differing)
        if len(left) == len(count.field_rows):
            return SplitCount(None, tuple(left.values()), differing)
        new = without_fields(count, left)
        await self._read_other_work(log, count.store)
        return SplitCount(new, tuple(left.values()), differing, log.other_work.get(product, set()))

    def add_entry(self, store: str, row: Row) -> None:
        """Take in an entry that others add to the log of a store after it was read."""
        log = self._logs_by_store.get(store)
        if log is None:
            return
        if row.get("reference") == LOAD_REFERENCE:
            product, code = _location_key(row)
            log.loaded.setdefault(product, {}).setdefault(code, {}).update(_pools_of_row(row))
        else:
            _add_other_entry(log, row)

    async def _is_place(self, store: str, code: str) -> bool:
        """Return True if the store has the location, or its locations cannot be read."""
        if store not in self._places:
            try:
                self._places[store] = set(await location_codes(self._client, store))
            except ClientError:
                self._places[store] = set()
        return code in (self._places[store] or (code,))

    def _loaded_elsewhere(self, log: CountLog, count: Record) -> str:
        """Return the places where the product was loaded, if this count is of the same goods; otherwise empty.

        A count without a location is of the whole product: besides counts of its locations it would undo their losses.
        A count at a location is of goods loaded without one, or at another one that the file no longer names. Counting
        them would double them.
        """
        product, code = _location_key(count.body)
        held = (at for at, pools in log.loaded.get(product, {}).items() if any(pools.values()))
        return ", ".join(sorted(at or NO_LOCATION for at in held if not (code and self.spots.has_count(count, at))))

    def _pools_no_longer_named(self, count: Record, known: Pools) -> list[str]:
        """Return the pools that were loaded at this location and are no longer in the file."""
        _, code = _location_key(count.body)
        return [name for name, quantity in known.items() if quantity and not self.spots.has_row(count, code, name)]

    async def _skip_if_counted(self, log: CountLog, count: Record, notes: FileNotes) -> Record | None:
        """Return the count, unless somebody has counted there otherwise; then add a warning."""
        await self._read_other_work(log, count.store)
        found = log.other_counts.get(_location_key(count.body))
        if found is None:
            return count
        when, who = found
        product, code = _location_key(count.body)
        where = f"{product} at {code}" if code else product
        origin = " ".join(part for part in (f"by {who}" if who else "", f"on {when}" if when else "") if part)
        for line in sorted(count.field_rows.values()):
            notes.add_warning(
                "the stock was counted before, and is left as it is (to count it again, put all rows of the product in"
                " a stock.csv in a folder of its own, and load that with --recount)",
                f"{where}, counted before {origin}".rstrip(),
                line,
            )
        return None

    async def _read_other_work(self, log: CountLog, store: str) -> None:
        """Read the whole log of a store, once, for entries that are no load."""
        if store in self._fully_read_stores:
            return
        async for row in self._log_rows(store, {}):
            if row.get("reference") == LOAD_REFERENCE:
                continue
            _add_other_entry(log, row)
        self._fully_read_stores.add(store)

    async def _read_log(self, store: str) -> CountLog:
        if store not in self._logs_by_store:
            self._fully_read_stores.discard(store)
            found: dict[str, dict[str, Pools]] = {}
            async for row in self._log_rows(store, {"reference": LOAD_REFERENCE}):
                if row.get("reference") == LOAD_REFERENCE:
                    product, code = _location_key(row)
                    found.setdefault(product, {}).setdefault(code, {}).update(_pools_of_row(row))
            self._logs_by_store[store] = CountLog(found, {}, {})
        return self._logs_by_store[store]

    async def _log_rows(self, store: str, filters: Mapping[str, QueryValue]) -> AsyncIterator[Row]:
        """Yield entries of the log. Raise LoadError if it cannot be read."""
        query: dict[str, QueryValue] = {"store_number": store, **filters, "is_historic": True}
        try:
            async for row in self._client.rows("list-store-product-logs", query=query):
                yield row
        except (Forbidden, NotFound):
            return  # the counts of the store will be refused with a reason
        except ClientError as error:
            raise LoadError(
                f"Whether the stock of store {store} was counted before cannot be read: {error} Load again later,"
                " or count all of it with --recount."
            ) from error


def _add_other_entry(log: CountLog, row: Row) -> None:
    at, other = _location_key(row), _counted_by(row)
    if row.get(COUNT_FIELD) is not None:
        log.other_counts[at] = max(other, log.other_counts.get(at, other))
    if row.get("quantity"):
        pool = f"stock_pool_{row['stock_pool']}" if row.get("stock_pool") else ""
        log.other_work.setdefault(at[0], set()).add((at[1], pool))


def _counted_by(row: Row) -> tuple[str, str]:
    """Return the time of an entry, to the minute, and its user."""
    who = row.get("app_user_name") or row.get("reference") or ""
    at = next((str(row[name]) for name in _TIME_FIELDS if row.get(name)), "")
    minute = at[:_MINUTE_LENGTH].replace("T", " ") + (" UTC" if at.endswith("Z") else "")
    return minute, str(who)


def with_load_reference(count: Record) -> Record:
    """Return a count with the reference by which it is found again."""
    return count._replace(body=count.body | {"reference": LOAD_REFERENCE})


def without_fields(count: Record, names: Container[str]) -> Record | None:
    """Return a count without some of its fields; None if none is left."""
    at = {name: line for name, line in count.field_rows.items() if name not in names}
    if len(at) == len(count.field_rows):
        return count
    body = {name: value for name, value in count.body.items() if name not in names}
    return count._replace(body=body, line=min(at.values()), rows=len(at), field_rows=at) if at else None


def _location_key(row: Row) -> ProductLocation:
    product, place = (str(row.get(name) or "") for name in _LOCATION_FIELDS)
    return product, place


def _format_pool(name: str) -> str:
    return name.removeprefix("stock_").replace("_", " ") if name != COUNT_FIELD else "no pool"


def _format_pools(pools: Pools) -> str:
    return ", ".join(f"{quantity:f} in {_format_pool(name)}" for name, quantity in sorted(pools.items()))


def _pools_of_row(row: Row) -> Pools:
    names = (f"stock_pool_{pool}" for pool in range(1, 11))
    found = {name: Decimal(str(row[name])) for name in names if row.get(name) is not None}
    return found or {COUNT_FIELD: Decimal(str(row.get(COUNT_FIELD) or 0))}


def _warn_of_location(count: Record, other: str, notes: FileNotes) -> None:
    product, code = _location_key(count.body)
    for line in sorted(count.field_rows.values()):
        notes.add_warning(
            f"the stock was loaded before at another place, or without one{_MOVED_ADVICE.format('place')}",
            f"{product}: {other} then, {code or NO_LOCATION} now",
            line,
        )


def _warn_of_difference(body: Row, name: str, line: int, known: Pools, notes: FileNotes) -> bool:
    """Add a warning if a row has another figure than was loaded. Return True if it has."""
    then = {name: known[name]} if name in known else known
    is_other = sum(then.values(), Decimal(0)) != Decimal(str(body[name]))
    if is_other:
        held = {pool: quantity for pool, quantity in then.items() if quantity}
        said = _format_pools(held) if len(held) > 1 else f"{sum(held.values(), Decimal(0)):f}"
        value = f"{body['product_number']}: {said} then, {body[name]} in the file"
        notes.add_warning("the stock was loaded before with another figure, and is left as it is", value, line)
    return is_other
