"""What a store says of its stock before a load: a count does nothing where none is kept, nor to other pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from decimal import Decimal
from typing import Any

from aisle.client.core import Core
from aisle.client.errors import ClientError, Forbidden, NotFound, TransportError
from aisle.client.load.report import LoadError
from aisle.client.load.table import Table
from aisle.contract.wire import QueryValue
from aisle.tuples import NamedTuple

_PAGE = 1000
_CHAIN = ""
"""What stands for the list of products, which is that of all stores."""
_FEW = 20
"""Counts of a store for which its products are asked one by one."""


class Kept(NamedTuple):
    """Whether a product keeps stock in a store, and how much is in which of its pools before the load.

    `spots` has the same by place, empty for none, and pool.
    """

    is_kept: bool
    pools: Mapping[str, Decimal]
    spots: Mapping[tuple[str, str], Decimal] = {}

    def at_places(self, pool: str) -> Decimal:
        """What lies in a pool at places."""
        return sum((quantity for (code, of), quantity in self.spots.items() if code and of == pool), Decimal(0))


class KeptStock:
    """What the service says of each product; read when the first count of a store is to be sent.

    The entry of a product in the store's list of stock decides, or the product itself where it has none there.
    """

    def __init__(self, client: Core, table: Table) -> None:
        self._client = client
        self._table = table
        self._rows: Counter[str] | None = None
        self._listed: dict[str, dict[str, Kept]] = {}
        self._asked: dict[tuple[str, str], Kept | None] = {}

    async def of(self, store: str, product: str) -> Kept:
        """What is known of the product in the store, as far as the service says."""
        if self._rows is None:
            self._rows = Counter()
            for _, (name,) in self._table.picked(("store_number",)):
                self._rows[name] += 1
        for at in (store, _CHAIN):
            said = await self._said(at, product, is_few=self._rows[store] <= _FEW)
            if said is not None:
                return said
        return Kept(True, {})

    async def _said(self, store: str, product: str, *, is_few: bool) -> Kept | None:
        """What a list says of a product; None where it does not have it."""
        if is_few:
            if (store, product) not in self._asked:
                self._asked[store, product] = (await self._read(store, {"product_number": product})).get(product)
            return self._asked[store, product]
        for at in (_CHAIN, store):
            if at not in self._listed:
                found = await self._read(at, {})
                without = self._listed.get(_CHAIN, {})
                self._listed[at] = {
                    one: kept for one, kept in found.items() if not kept.is_kept or kept.spots or one in without
                }
        return self._listed[store].get(product)

    async def _read(self, store: str, asked: Mapping[str, QueryValue]) -> dict[str, Kept]:
        """The products of a list; none where it cannot be read, which is noted.

        Raises LoadError where the service does not answer.
        """
        try:
            return {str(row.get("product_number")): _kept(row) async for row in self._pages(store, asked)}
        except (Forbidden, NotFound):
            return {}  # what the store says to its counts is told with their rows
        except TransportError as error:
            raise LoadError(
                f"Which products keep stock cannot be read: {error} Load again later: it goes on, and doubles nothing."
            ) from error
        except ClientError as error:
            self._table.notes.doubt(f"which products keep stock could not be read: {error}")
            return {}

    async def _pages(self, store: str, asked: Mapping[str, QueryValue]) -> AsyncIterator[Mapping[str, Any]]:
        operation = "list-products" if store == _CHAIN else "list-store-products-stock"
        query: dict[str, QueryValue] = {**asked, "page_size": _PAGE} | (
            {} if store == _CHAIN else {"store_number": store, "include_locations": True}
        )
        async with aclosing(self._client.pages(operation, query=query)) as pages:
            async for rows, _ in pages:
                for row in rows:
                    yield row


def _kept(row: Mapping[str, Any]) -> Kept:
    pools = _pools(row, "most_likely_pool_")
    spots = {
        (str(place.get("store_location_code") or ""), pool): quantity
        for place in row.get("store_locations") or ()
        for pool, quantity in _pools(place, "stock_pool_").items()
    }
    for pool in {*pools, *(of for _, of in spots)}:
        if rest := pools.get(pool, Decimal(0)) - sum(have for (_, of), have in spots.items() if of == pool):
            spots["", pool] = rest
    return Kept(row.get("is_stock") is not False, pools, spots)


def _pools(row: Mapping[str, Any], prefix: str) -> dict[str, Decimal]:
    found = (row.get(f"{prefix}{pool}") for pool in range(1, 11))
    return {f"stock_pool_{at}": Decimal(str(said)) for at, said in enumerate(found, 1) if said}
