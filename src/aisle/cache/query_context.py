"""Connections that a session's queries read from, the overlaid rows, and what one answer has computed before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeVar

import apsw

from aisle.cache.locations_in_walk_order import WalkOrder, WalkOrderCache
from aisle.cache.parse_stored_row import Row, parse_row
from aisle.cache.pending_operations import Overlay, OverlayIndex
from aisle.cache.stock_overlay import apply_to_stock, pending_by_product
from aisle.host.database import fetch
from aisle.host.store_folder import StoreFolder
from aisle.named_tuple_json import to_text

T = TypeVar("T")

_STOCK_OF_PRODUCTS = """
SELECT p.product_number, s.raw, s.read_began FROM json_each(?) e
JOIN product p ON p.product_number = e.value JOIN stock s ON s.id = p.id ORDER BY e.key
"""


class QueryContext:
    """Connections that queries read from, and what they have computed before."""

    def __init__(self, store_folder: StoreFolder, outbox: apsw.Connection) -> None:
        self.store_folder = store_folder
        self.outbox = outbox
        self.pools: Mapping[int, str] = {}
        """Names of the configured stock pools; empty for those that the store names."""
        self.weight_tolerance = Decimal(0)
        """Percentage that a picked or received line of goods by weight may lack."""
        self.overlay = Overlay(outbox)
        self._kept: dict[type, Any] = {}

    def use_cache(self, cache: apsw.Connection) -> None:
        """Read from another cache from now on."""
        self.cache = cache
        self._walk_orders = WalkOrderCache()

    @property
    def pending_orders(self) -> OverlayIndex:
        """Index of pending operations by order, oldest first."""
        return self.overlay.by_order()

    @property
    def pending_products(self) -> OverlayIndex:
        """Index of pending operations by product, oldest first."""
        return pending_by_product(self.overlay)

    @property
    def cache_version(self) -> int:
        """Number that changes when another process has written to the cache."""
        return int(fetch(self.cache, "PRAGMA data_version")[0][0])

    def keep(self, kind: type[T]) -> T:
        """Return the one object of this type that a query keeps between its calls."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        found: T = self._kept[kind]
        return found

    def overlaid_stock(self, numbers: Iterable[str]) -> Iterator[tuple[str, Row]]:
        """Yield number and stock entry of those of these products that have one, with pending operations applied.

        They come in this order; each is computed when its turn comes.
        """
        asked, pending = list(numbers), self.pending_products
        pending.preload(number for number in asked if pending.may_contain(number))
        for number, raw, began in fetch(self.cache, _STOCK_OF_PRODUCTS, to_text(asked)) if asked else ():
            yield str(number), apply_to_stock(parse_row(raw), str(number), pending.get(number, ()), began)

    def walk_order(self) -> WalkOrder:
        """Return the locations in walking order."""
        return self._walk_orders.current(self.cache, self.cache_version)
