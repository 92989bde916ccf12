"""Products that keep no stock in a store: a count of one is written into the log there, and changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from aisle.client.core import Core
from aisle.client.errors import ClientError, Forbidden, NotFound, TransportError
from aisle.client.load.report import LoadError
from aisle.client.load.table import Table
from aisle.contract.wire import QueryValue

_PAGE = 1000
_CHAIN = ""
"""What stands for the list of products, which is that of all stores."""
_FEW = 20
"""Counts of a store for which its products are asked one by one."""


class KeptStock:
    """What the service says of each product; read when the first count of a store is to be sent.

    The entry of a product in the store's list of stock decides, or the product itself where it has none there.
    """

    def __init__(self, client: Core, table: Table) -> None:
        self._client = client
        self._table = table
        self._rows: Counter[str] | None = None
        self._flags: dict[str, dict[str, bool]] = {}
        self._asked: dict[tuple[str, str], bool | None] = {}

    async def is_kept(self, store: str, product: str) -> bool:
        """Whether the product keeps stock in the store, as far as the service says."""
        if self._rows is None:
            self._rows = Counter(name for _, (name,) in self._table.picked(("store_number",)))
        for at in (store, _CHAIN):
            said = await self._said(at, product, is_few=self._rows[store] <= _FEW)
            if said is not None:
                return said
        return True

    async def _said(self, store: str, product: str, *, is_few: bool) -> bool | None:
        """What a list says of a product; None where it does not have it."""
        if not is_few:
            for at in (_CHAIN, store):
                if at not in self._flags:
                    found = await self._read(at, {})
                    without = self._flags.get(_CHAIN, {})
                    self._flags[at] = {one: flag for one, flag in found.items() if not flag or one in without}
            return self._flags[store].get(product)
        if (store, product) not in self._asked:
            found = await self._read(store, {"product_number": product})
            self._asked[store, product] = found.get(product)
        return self._asked[store, product]

    async def _read(self, store: str, asked: Mapping[str, QueryValue]) -> dict[str, bool]:
        """Which products of a list keep stock; none where it cannot be read, which is noted.

        Raises LoadError where the service does not answer.
        """
        try:
            return {
                str(row.get("product_number")): row.get("is_stock") is not False
                async for row in self._listed(store, asked)
            }
        except (Forbidden, NotFound):
            return {}  # what the store says to its counts is told with their rows
        except TransportError as error:
            raise LoadError(
                f"Which products keep stock cannot be read: {error} Load again later: it goes on, and doubles nothing."
            ) from error
        except ClientError as error:
            self._table.notes.doubt(f"which products keep stock could not be read: {error}")
            return {}

    async def _listed(self, store: str, asked: Mapping[str, QueryValue]) -> AsyncIterator[Mapping[str, Any]]:
        operation = "list-products" if store == _CHAIN else "list-store-products-stock"
        query: dict[str, QueryValue] = {**asked, "page_size": _PAGE} | (
            {} if store == _CHAIN else {"store_number": store}
        )
        async with aclosing(self._client.pages(operation, query=query)) as pages:
            async for rows, _ in pages:
                for row in rows:
                    yield row
