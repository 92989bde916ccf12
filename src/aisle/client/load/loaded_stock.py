"""Stock that was counted before, as the service's log says: it is not counted again, for goods have moved since.

Counts of a load are known by their reference. Other counts of the same product at the same place are left as they are,
too: by people, by loads of earlier programs, and by all loads where a service keeps no reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from decimal import Decimal
from typing import Any

from aisle.client.core import Core
from aisle.client.errors import ClientError, Forbidden, NotFound
from aisle.client.load.read import Record
from aisle.client.load.report import LoadError, Notes
from aisle.client.load.table import Table
from aisle.contract.wire import QueryValue
from aisle.tuples import NamedTuple

REFERENCE = "aisle load"
"""The reference of a count that came from a file; by it such counts are found again in the log."""

_PAGE = 1000
_BARE = "counted_quantity"
_WHERE = ("product_number", "location_code")
_MOMENTS = ("moved_on", "created_on", "updated_on")
_MINUTE = len("2026-11-27T18:00")

_NAMED = ("store_number", *_WHERE, "stock_pool")
_MOVED = (
    ", which the file no longer names; it is left as it is (where the goods lie elsewhere now, put the row in a"
    " stock.csv in a folder of its own, beside a row with 0 for what was loaded before, and load that with --recount)"
)

WITHOUT_PLACE = "no place"

Place = tuple[str, str]
"""A product, and where it lies."""
Pools = dict[str, Decimal]


class Log(NamedTuple):
    """What the log of a store says of counts."""

    loaded: Mapping[str, dict[str, Pools]]
    """What counts of loads said, by product and place."""
    others: dict[Place, tuple[str, str]]
    """When another count was made last, and by whom; empty until it is asked for."""


class LoadedStock:
    """What the log of each store says was counted; read when the first count of the store is to be sent.

    It is kept until the last count of the store has come: read again, it would hold what this load has sent.
    """

    def __init__(self, client: Core, table: Table | None = None) -> None:
        """`table` is the file whose counts are asked about."""
        self._client = client
        self._table = table
        self._named: set[int] | None = None
        self._rows_left: Counter[str] = Counter()
        self._stores: dict[str, Log] = {}
        self._read_whole: set[str] = set()

    async def split(self, count: Record, notes: Notes) -> tuple[Record | None, tuple[int, ...]]:
        """The part of a count that was not loaded before, if any, and the rows of the other part.

        A row that says another figure than was loaded, or whose place was counted otherwise, is noted. Raises LoadError
        where the log cannot be read.
        """
        log = await self._of(count.store)
        self._survey()
        found = await self._judged(log, count, notes)
        self._rows_left[count.store] -= len(count.at)
        if self._rows_left[count.store] <= 0:
            del self._stores[count.store]  # files name one store after the other; a chain of them is not kept in memory
        return found

    async def _judged(self, log: Log, count: Record, notes: Notes) -> tuple[Record | None, tuple[int, ...]]:
        product, code = _key(count.body)
        known = log.loaded.get(product, {}).get(code)
        if known is None:
            if other := self._otherwise(log, count):
                _warn_of_place(count, other, notes)
                return None, tuple(count.at.values())
            return await self._unless_counted(log, count, notes), ()
        left = {name: line for name, line in count.at.items() if name == _BARE or name in known}
        for name, line in left.items() if not count.is_beside else ():
            _compare(count.body, name, line, known, notes)
        if len(left) < len(count.at) and (gone := self._gone(count, known)):
            for name, line in count.at.items():
                if name not in left:
                    value = f"{product}: {known[gone]:f} in {_pool_words(gone)} then, {_pool_words(name)} now"
                    notes.warn(f"the stock was loaded before in another pool{_MOVED}", value, line)
            return None, tuple(count.at.values())
        if len(left) == len(count.at):
            return None, tuple(left.values())
        body = {name: value for name, value in count.body.items() if name not in left}
        at = {name: line for name, line in count.at.items() if name not in left}
        return count._replace(body=body, line=min(at.values()), rows=len(at), at=at), tuple(left.values())

    def _otherwise(self, log: Log, count: Record) -> str:
        """Where the product was loaded, if that tells that the count is of the same goods.

        A count without a place is of the whole product: beside counts of its places it would undo what was lost there.
        A count at a place is of goods that were loaded without one, or at another place, unless the file names that one
        too: to count them would double them.
        """
        product, code = _key(count.body)
        for at, pools in log.loaded.get(product, {}).items():
            is_named = bool(code) and hash((count.store, product, at)) in self._names_of_file()
            if any(pools.values()) and not is_named:
                return at or WITHOUT_PLACE
        return ""

    def _gone(self, count: Record, known: Pools) -> str:
        """A pool that was loaded with something at this place, and that the file no longer names there."""
        product, code = _key(count.body)
        names = self._names_of_file()
        for name, quantity in known.items():
            if quantity and hash((count.store, product, code, name)) not in names:
                return name
        return ""

    def _names_of_file(self) -> set[int]:
        """Hashes of the products of the file with their places, and with the pools there."""
        self._survey()
        return self._named or set()

    def _survey(self) -> None:
        if self._named is None:
            self._named = set()
            for _, (store, *where, pool) in self._table.picked(_NAMED) if self._table else ():
                self._rows_left[store] += 1
                self._named |= {hash((store, *where)), hash((store, *where, f"stock_pool_{pool}" if pool else _BARE))}

    async def _unless_counted(self, log: Log, count: Record, notes: Notes) -> Record | None:
        """The count, unless somebody has counted there in another way; that is noted."""
        if count.store not in self._read_whole:
            async for row in self._rows(count.store, {}):
                if row.get(_BARE) is not None and row.get("reference") != REFERENCE:
                    at, other = _key(row), _counted_by(row)
                    log.others[at] = max(other, log.others.get(at, other))
            self._read_whole.add(count.store)
        found = log.others.get(_key(count.body))
        if found is None:
            return count
        when, who = found
        product, code = _key(count.body)
        where = f"{product} at {code}" if code else product
        said = " ".join(part for part in (f"by {who}" if who else "", f"on {when}" if when else "") if part)
        for line in sorted(count.at.values()):
            notes.warn(
                "the stock was counted before, and is left as it is (to count it again, put only such rows in a"
                " stock.csv in a folder of its own, and load that with --recount)",
                f"{where}, counted before {said}".rstrip(),
                line,
            )
        return None

    async def _of(self, store: str) -> Log:
        if store not in self._stores:
            self._read_whole.discard(store)
            found: dict[str, dict[str, Pools]] = {}
            async for row in self._rows(store, {"reference": REFERENCE}):
                if row.get("reference") == REFERENCE:
                    product, code = _key(row)
                    found.setdefault(product, {}).setdefault(code, {}).update(_pools(row))
            self._stores[store] = Log(found, {})
        return self._stores[store]

    async def _rows(self, store: str, asked: Mapping[str, QueryValue]) -> AsyncIterator[Mapping[str, Any]]:
        """Entries of the log. Raises LoadError where it cannot be read."""
        query: dict[str, QueryValue] = {"store_number": store, **asked, "is_historic": True, "page_size": _PAGE}
        try:
            async with aclosing(self._client.pages("list-store-product-logs", query=query)) as pages:
                async for rows, _ in pages:
                    for row in rows:
                        yield row
        except (Forbidden, NotFound):
            return  # what the store says to its counts is told with their rows
        except ClientError as error:
            raise LoadError(
                f"Whether the stock of store {store} was counted before cannot be read: {error} Load again later,"
                " or count all of it with --recount."
            ) from error


def _counted_by(row: Mapping[str, Any]) -> tuple[str, str]:
    """When an entry was made, to the minute, and by whom."""
    who = row.get("app_user_name") or row.get("reference") or ""
    at = next((str(row[name]) for name in _MOMENTS if row.get(name)), "")
    minute = at[:_MINUTE].replace("T", " ") + (" UTC" if at.endswith("Z") else "")
    return minute, str(who)


def marked(count: Record) -> Record:
    """A count as it is sent: with the reference by which it is found again."""
    return count._replace(body=count.body | {"reference": REFERENCE})


def _key(row: Mapping[str, Any]) -> Place:
    product, place = (str(row.get(name) or "") for name in _WHERE)
    return product, place


def _pool_words(name: str) -> str:
    return name.removeprefix("stock_").replace("_", " ") if name != _BARE else "no pool"


def _pools(row: Mapping[str, Any]) -> Pools:
    names = (f"stock_pool_{pool}" for pool in range(1, 11))
    found = {name: Decimal(str(row[name])) for name in names if row.get(name) is not None}
    return found or {_BARE: Decimal(str(row.get(_BARE) or 0))}


def _warn_of_place(count: Record, other: str, notes: Notes) -> None:
    product, code = _key(count.body)
    for line in sorted(count.at.values()):
        notes.warn(
            f"the stock was loaded before at another place, or without one{_MOVED}",
            f"{product}: {other} then, {code or WITHOUT_PLACE} now",
            line,
        )


def _compare(body: Mapping[str, Any], name: str, line: int, known: Pools, notes: Notes) -> None:
    then = known.get(name, sum(known.values(), Decimal(0)))
    if then != Decimal(str(body[name])):
        product = body["product_number"]
        value = f"{product}: {then:f} then, {body[name]} in the file"
        notes.warn("the stock was loaded before with another figure, and is left as it is", value, line)
