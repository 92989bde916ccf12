"""Goods that are picked for open orders and not put down: the service keeps them at no location, like goods found."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from decimal import Decimal, InvalidOperation

from aisle.client.client import Client
from aisle.client.errors import ClientError, TransportError
from aisle.client.load.existing_stock import ProductStock
from aisle.client.load.report import LoadError
from aisle.client.paging import Row
from aisle.contract.wire import QueryValue

_PAGE_SIZE = 1000
_MAX_ORDERS = 5
"""Number of orders that are named."""

InHand = Mapping[tuple[str, str], Decimal]
"""Goods of a product in hand, by order and pool."""


class GoodsInHand:
    """Goods in hand in each store, read with its open orders when a product first lies at no location."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._by_store: dict[str, dict[str, dict[tuple[str, str], Decimal]]] = {}

    async def get(self, store: str, product: str, kept: ProductStock) -> InHand:
        """Return the goods of a product in hand. Raise LoadError if the service does not respond."""
        room = {pool: quantity for (place, pool), quantity in kept.spots.items() if quantity > 0 and not place}
        if not room:
            return {}
        if store not in self._by_store:
            self._by_store[store] = await self._read(store)
        return _in_pools(self._by_store[store].get(product, {}), room)

    async def _read(self, store: str) -> dict[str, dict[tuple[str, str], Decimal]]:
        found: dict[str, dict[tuple[str, str], Decimal]] = {}
        query: dict[str, QueryValue] = {"show_lines": True, "page_size": _PAGE_SIZE}
        try:
            async with aclosing(
                self._client.pages("list-customer-orders", path={"store_number": store}, query=query)
            ) as pages:
                async for rows, _ in pages:
                    for order in rows:
                        for line in order.get("lines") or ():
                            pool = f"stock_pool_{line.get('stock_pool') or 1}"
                            if quantity := _in_hand(order, line):
                                held = found.setdefault(str(line.get("product_number")), {})
                                key = str(order.get("order_number")), pool
                                held[key] = held.get(key, Decimal(0)) + quantity
        except TransportError as error:
            raise LoadError(
                f"Which goods are picked cannot be read: {error} Load again later: it goes on, and doubles nothing."
            ) from error
        except ClientError:
            return {}  # the goods are then named as those at no place
        return found


def quantity_in_hand(in_hand: InHand, pool: str = "") -> Decimal:
    """Return the goods in hand of a pool; without a pool, of all pools."""
    return sum((quantity for (_, of), quantity in in_hand.items() if pool in ("", of)), Decimal(0))


def describe_in_hand(in_hand: InHand, quantity: Decimal) -> str:
    """Return goods in hand as text, with their orders."""
    orders = sorted({order for order, _ in in_hand})
    more = f" and {len(orders) - _MAX_ORDERS} more" if len(orders) > _MAX_ORDERS else ""
    return f"in hand for order {', '.join(orders[:_MAX_ORDERS])}{more} ({quantity:f})"


def _in_pools(in_hand: InHand, room: dict[str, Decimal]) -> InHand:
    """Return goods in hand in the pools whose stock at no location has them: of their line's pool, else of others."""
    found: dict[tuple[str, str], Decimal] = {}
    left = dict(in_hand)
    for others in ((), tuple(room)):
        for order, pool in in_hand:
            for of in (pool, *others):
                part = min(left[order, pool], room.get(of, Decimal(0)))
                if part:
                    found[order, of] = found.get((order, of), Decimal(0)) + part
                    room[of] -= part
                    left[order, pool] -= part
    return found


def _in_hand(order: Row, line: Row) -> Decimal:
    """Return what is picked for a line and not put down. Goods that a warehouse has picked are not in the store."""
    if order.get("is_rejected") or line.get("is_rejected") or (line.get("aisle") or {}).get("is_picked_from_warehouse"):
        return Decimal(0)
    try:
        picked, moved = (Decimal(str(line.get(name) or 0)) for name in ("picked_quantity", "moved_quantity"))
    except InvalidOperation:
        return Decimal(0)
    return max(Decimal(0), picked - moved)
