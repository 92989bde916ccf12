"""Stock that was counted before, as the service's log says: it is not counted again, for goods have moved since.

Counts of a load are known by their reference. Other counts of the same product at the same place are left as they are,
too: by people, by loads of earlier programs, and by all loads where a service keeps no reference.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from decimal import Decimal
from typing import Any

from aisle.client.core import Core
from aisle.client.errors import ClientError, Forbidden, NotFound
from aisle.client.load.read import Record
from aisle.client.load.report import LoadError, Notes
from aisle.contract.wire import QueryValue
from aisle.tuples import NamedTuple

REFERENCE = "aisle load"
"""The reference of a count that came from a file; by it such counts are found again in the log."""

_PAGE = 1000
_BARE = "counted_quantity"
_WHERE = ("product_number", "location_code")
_MOMENTS = ("moved_on", "created_on", "updated_on")
_MINUTE = len("2026-11-27T18:00")

Place = tuple[str, str]
"""A product, and where it lies."""
Pools = dict[str, Decimal]


class Log(NamedTuple):
    """What the log of a store says of counts."""

    loaded: Mapping[Place, Pools]
    """What counts of loads said."""
    others: dict[Place, tuple[str, str]]
    """When another count was made last, and by whom; empty until it is asked for."""


class LoadedStock:
    """What the log of each store says was counted; read when the first count of the store is to be sent."""

    def __init__(self, client: Core) -> None:
        self._client = client
        self._stores: dict[str, Log] = {}
        self._is_read_whole = False

    async def split(self, count: Record, notes: Notes) -> tuple[Record | None, tuple[int, ...]]:
        """The part of a count that was not loaded before, if any, and the rows of the other part.

        A row that says another figure than was loaded, or whose place was counted otherwise, is noted. Raises LoadError
        where the log cannot be read.
        """
        known = (await self._of(count.store)).loaded.get(_key(count.body))
        if known is None:
            return await self._unless_counted(count, notes), ()
        left = {name: line for name, line in count.at.items() if name == _BARE or name in known}
        for name, line in left.items():
            _compare(count.body, name, line, known, notes)
        if len(left) == len(count.at):
            return None, tuple(left.values())
        body = {name: value for name, value in count.body.items() if name not in left}
        at = {name: line for name, line in count.at.items() if name not in left}
        return count._replace(body=body, line=min(at.values()), rows=len(at), at=at), tuple(left.values())

    async def _unless_counted(self, count: Record, notes: Notes) -> Record | None:
        """The count, unless somebody has counted there in another way; that is noted."""
        log = await self._of(count.store)
        if not self._is_read_whole:
            async for row in self._rows(count.store, {}):
                if row.get(_BARE) is not None and row.get("reference") != REFERENCE:
                    at, other = _key(row), _counted_by(row)
                    log.others[at] = max(other, log.others.get(at, other))
            self._is_read_whole = True
        found = log.others.get(_key(count.body))
        if found is None:
            return count
        when, who = found
        product, code = _key(count.body)
        where = f"{product} at {code}" if code else product
        said = " ".join(part for part in (f"by {who}" if who else "", f"on {when}" if when else "") if part)
        for line in sorted(count.at.values()):
            notes.warn(
                "the stock was counted before, and is left as it is; --recount counts it again",
                f"{where}, counted before {said}".rstrip(),
                line,
            )
        return None

    async def _of(self, store: str) -> Log:
        if store not in self._stores:
            self._stores.clear()  # files name one store after the other; a chain of them is not kept in memory
            self._is_read_whole = False
            found: dict[Place, Pools] = {}
            async for row in self._rows(store, {"reference": REFERENCE}):
                if row.get("reference") == REFERENCE:
                    found.setdefault(_key(row), {}).update(_pools(row))
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


def _pools(row: Mapping[str, Any]) -> Pools:
    names = (f"stock_pool_{pool}" for pool in range(1, 11))
    found = {name: Decimal(str(row[name])) for name in names if row.get(name) is not None}
    return found or {_BARE: Decimal(str(row.get(_BARE) or 0))}


def _compare(body: Mapping[str, Any], name: str, line: int, known: Pools, notes: Notes) -> None:
    then = known.get(name, sum(known.values(), Decimal(0)))
    if then != Decimal(str(body[name])):
        product = body["product_number"]
        value = f"{product}: {then:f} then, {body[name]} in the file"
        notes.warn("the stock was loaded before with another figure, and is left as it is", value, line)
