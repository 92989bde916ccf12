"""Stock that was loaded before, as the service's log says: it is not counted again, for goods have moved since."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from decimal import Decimal
from typing import Any

from aisle.client.core import Core
from aisle.client.errors import ClientError, Forbidden, NotFound
from aisle.client.load.read import Record
from aisle.client.load.report import LoadError, Notes
from aisle.contract.wire import QueryValue

REFERENCE = "aisle load"
"""The reference of a count that came from a file; by it such counts are found again in the log."""

_PAGE = 1000
_BARE = "counted_quantity"
_WHERE = ("product_number", "location_code")

Pools = dict[str, Decimal]


class LoadedStock:
    """What the log of each store says was loaded; read when the first count of the store is to be sent."""

    def __init__(self, client: Core) -> None:
        self._client = client
        self._stores: dict[str, dict[tuple[str, str], Pools]] = {}

    async def split(self, count: Record, notes: Notes) -> tuple[Record | None, tuple[int, ...]]:
        """The part of a count that was not loaded before, if any, and the rows of the other part.

        A row that says another figure than was loaded is noted. Raises LoadError where the log cannot be read.
        """
        known = (await self._of(count.store)).get(_key(count.body))
        if known is None:
            return count, ()
        left = {name: line for name, line in count.at.items() if name == _BARE or name in known}
        for name, line in left.items():
            _compare(count.body, name, line, known, notes)
        if len(left) == len(count.at):
            return None, tuple(left.values())
        body = {name: value for name, value in count.body.items() if name not in left}
        at = {name: line for name, line in count.at.items() if name not in left}
        return count._replace(body=body, line=min(at.values()), rows=len(at), at=at), tuple(left.values())

    async def _of(self, store: str) -> dict[tuple[str, str], Pools]:
        if store not in self._stores:
            self._stores.clear()  # files name one store after the other; a chain of them is not kept in memory
            self._stores[store] = await self._read(store)
        return self._stores[store]

    async def _read(self, store: str) -> dict[tuple[str, str], Pools]:
        found: dict[tuple[str, str], Pools] = {}
        asked: dict[str, QueryValue] = {
            "store_number": store,
            "reference": REFERENCE,
            "is_historic": True,
            "page_size": _PAGE,
        }
        try:
            async with aclosing(self._client.pages("list-store-product-logs", query=asked)) as pages:
                async for rows, _ in pages:
                    for row in rows:
                        if row.get("reference") == REFERENCE:
                            found.setdefault(_key(row), {}).update(_pools(row))
        except (Forbidden, NotFound):
            return {}  # what the store says to its counts is told with their rows
        except ClientError as error:
            raise LoadError(
                f"Whether the stock of store {store} was loaded before cannot be read: {error} Load again later,"
                " or count all of it with --recount."
            ) from error
        return found


def marked(count: Record) -> Record:
    """A count as it is sent: with the reference by which it is found again."""
    return count._replace(body=count.body | {"reference": REFERENCE})


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
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
