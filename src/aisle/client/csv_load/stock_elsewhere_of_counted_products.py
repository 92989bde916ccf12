"""Goods that a load of stock does not name: changed by other work, at other locations, or in hand for open orders.

What is picked and not put down is kept by the service at no location, like goods found.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.existing_stock_and_loaded_counts import (
    COUNT_FIELD,
    NO_LOCATION,
    ProductStock,
    SpotsOfFile,
    without_fields,
)
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import STAYS, first_of, unread_error
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError, TransportError

_CHANGED = (
    "the goods there were changed by other work than a load, and are left as they are (to count them all the same, put"
    " all rows of the product in a stock.csv in a folder of its own, and load that with --recount)"
)
_TOTAL = (
    "location_code is empty, while goods of the product lie at places, and the change of its total is booked at no"
    " place, as goods that are counted at no place"
)
_BESIDE = f"goods of the product lie where the file has no row for it{STAYS}"
_IN_OTHER_POOL = f"goods of the product lie in a pool for which the file has no row at their place{STAYS}"
_MAX_ORDERS = 5
"""Number of orders that are named."""
InHand = Mapping[tuple[str, str], Decimal]
"""Goods of a product in hand, by order and pool."""


class GoodsInHand:
    """Goods in hand in each store, read with its open orders when a product first lies at no location."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._by_store: dict[str, dict[str, dict[tuple[str, str], Decimal]]] = {}

    def forget(self, store: str) -> None:
        """Read the open orders of a store again when they are needed."""
        self._by_store.pop(store, None)

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
        orders = self._client.rows("list-customer-orders", path={"store_number": store}, query={"show_lines": True})
        try:
            async for order in orders:
                for line in order.get("lines") or ():
                    pool = f"stock_pool_{line.get('stock_pool') or 1}"
                    if quantity := _in_hand(order, line):
                        held = found.setdefault(str(line.get("product_number")), {})
                        key = str(order.get("order_number")), pool
                        held[key] = held.get(key, Decimal(0)) + quantity
        except TransportError as error:
            raise unread_error("Which goods are picked", error) from error
        except ClientError:
            return {}  # the goods are then named as those at no place
        return found


def _quantity_in_hand(in_hand: InHand, pool: str = "") -> Decimal:
    """Return the goods in hand of a pool; without a pool, of all pools."""
    return sum((quantity for (_, of), quantity in in_hand.items() if pool in ("", of)), Decimal(0))


def _describe_in_hand(in_hand: InHand, quantity: Decimal) -> str:
    """Return goods in hand as text, with their orders."""
    orders = sorted({order for order, _ in in_hand})
    return f"in hand for order {first_of(orders, _MAX_ORDERS)} ({quantity:f})"


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


class _Coming(NamedTuple):
    """Effect of a count on the total of its product, and the stock at other locations as text."""

    total: Decimal
    change: Decimal
    other_locations: str
    warning: str


class UnnamedStock:
    """Check of each count that is to be sent against the product's stock in the service before the load."""

    def __init__(self, table: CsvTable, spots: SpotsOfFile) -> None:
        self._table = table
        self._spots = spots
        self._coming: dict[int, _Coming] = {}
        self._totals: dict[int, list[tuple[str, int]]] = {}
        """Values and rows of the warnings on totals, by the first row of their count."""
        self._come: dict[tuple[str, str], tuple[int, _Coming]] = {}

    def unchanged(
        self, count: Record, kept: ProductStock, in_hand: InHand, worked: AbstractSet[tuple[str, str]] = frozenset()
    ) -> Record | None:
        """Return the part of a count whose stock no other work has changed, if any; add warnings for the rest.

        `worked` are the product's locations and pools with other work: goods that it took away must not come back.
        """
        changed = set()
        for name, line in count.field_rows.items():
            old, new = _book(count, name, kept), Decimal(str(count.body[name]))
            if old != new and (old or _is_worked(count, name, worked)):
                changed.add(name)
                where = f"{count.body['product_number']} at {count.body.get('location_code', NO_LOCATION)}"
                others = _words(_others(count, kept), count, in_hand)
                also = f"it also lies {others}, and " if others else ""
                total = sum(kept.spots.values()) + new - old
                value = f"{where}: {old:f} in the service, {new:f} in the file; {also}its total would be {total:f}"
                self._table.notes.add_warning(_CHANGED, value, line)
        return without_fields(count, changed)

    def below_places(self, count: Record, kept: ProductStock, in_hand: InHand) -> dict[str, str]:
        """Return why fields of a count without a location are refused: at places and in hand is more than they say."""
        found: dict[str, str] = {}
        for name in count.field_rows if "location_code" not in count.body else ():
            pool = "" if name == COUNT_FIELD else name
            least = _quantity_in_hand(in_hand, pool) + (0 if count.is_beside else kept.at_places(pool))
            new = Decimal(str(count.body[name]))
            if new < least and new != _book(count, name, kept):
                spots = {
                    (place, of): have if place else _quantity_in_hand(in_hand, of)
                    for (place, of), have in kept.spots.items()
                    if pool in ("", of) and not (place and count.is_beside)
                }
                words = _words(spots, count, in_hand)
                found[name] = (
                    f"quantity {new:f} is without a place, and less than what the product has {words};"
                    f" {'count that too' if count.is_beside else 'write a row for each place'}"
                )
        return found

    def expect(self, count: Record, kept: ProductStock, in_hand: InHand) -> None:
        """Record the effect of a count before it is sent, if the product is also where the file has no row."""
        changes = {name: Decimal(str(count.body[name])) - _book(count, name, kept) for name in count.field_rows}
        if "location_code" not in count.body and not count.is_beside:
            if any(place and quantity for (place, _), quantity in kept.spots.items()):
                words = _words(kept.spots, count, in_hand)
                self._totals[count.line] = [
                    (f"{change:+f} of {count.body['product_number']}, which was {words}", count.field_rows[name])
                    for name, change in changes.items()
                    if change
                ]
            return
        others = _others(count, kept)
        if unnamed := {spot: quantity for spot, quantity in others.items() if not self._names(count, *spot)}:
            total = sum(kept.spots.values(), Decimal(0))
            in_named = {place for place, _ in unnamed if self._spots.has_count(count, place)}
            words = _words(unnamed, count, in_hand, in_named)
            what = _IN_OTHER_POOL if all(place in in_named for place, _ in unnamed) else _BESIDE
            self._coming[count.line] = _Coming(total, sum(changes.values(), Decimal(0)), words, what)

    def done(self, count: Record) -> None:
        """Record that the service has accepted a count."""
        for value, line in self._totals.pop(count.line, ()):
            self._table.notes.add_warning(_TOTAL, value, line)
        if coming := self._coming.pop(count.line, None):
            key = (count.store, count.body["product_number"])
            line, before = self._come.get(key, (count.line, coming._replace(change=Decimal(0))))
            self._come[key] = (line, before._replace(change=before.change + coming.change))

    def note_all(self) -> None:
        """Add a warning for each counted product that is also elsewhere, with its new total."""
        for (_, product), (line, coming) in self._come.items():
            total = coming.total + coming.change
            value = f"{product} also lies {coming.other_locations}; its total is now {total:f}"
            self._table.notes.add_warning(coming.warning, value, line)

    def _names(self, count: Record, place: str, pool: str) -> bool:
        """Return True if the file has a row for the product at a location and in a pool there."""
        return any(self._spots.has_count(count, place, name) for name in (COUNT_FIELD, pool))


def pools_counted(count: Record, kept: ProductStock) -> dict[str, Decimal]:
    """Return the stock by pool of what a count is of that names no pool; empty for other counts."""
    if COUNT_FIELD not in count.field_rows:
        return {}
    if "location_code" not in count.body and not count.is_beside:
        return dict(kept.pools)
    at = count.body.get("location_code", "")
    return {pool: quantity for (place, pool), quantity in kept.spots.items() if place == at}


def _book(count: Record, name: str, kept: ProductStock) -> Decimal:
    """Return the service's stock for a field of a count."""
    if name == COUNT_FIELD:
        return sum(pools_counted(count, kept).values(), Decimal(0))
    if "location_code" in count.body or count.is_beside:
        return kept.spots.get((count.body.get("location_code", ""), name), Decimal(0))
    return kept.pools.get(name, Decimal(0))


def _is_worked(count: Record, name: str, worked: AbstractSet[tuple[str, str]]) -> bool:
    """Return True if other work was done where a field of a count counts."""
    code = count.body.get("location_code", "")
    of_product = not code and not count.is_beside
    return any((of_product or at == code) and (not pool or name in (COUNT_FIELD, pool)) for at, pool in worked)


def _others(count: Record, kept: ProductStock) -> dict[tuple[str, str], Decimal]:
    """Return the stock that a count is not of, by location (empty for none) and pool."""
    code, is_whole = count.body.get("location_code", ""), COUNT_FIELD in count.field_rows
    return {
        (place, pool): quantity
        for (place, pool), quantity in kept.spots.items()
        if quantity and (place != code or not (is_whole or pool in count.field_rows))
    }


def _words(
    others: Mapping[tuple[str, str], Decimal], count: Record, in_hand: InHand, by_pool: Container[str] = ()
) -> str:
    """Return stock as text: by location, and where the count is, and at `by_pool`, by pool too; goods in hand with
    their orders.
    """
    code, found = count.body.get("location_code", ""), dict[str, Decimal]()
    held = Decimal(0)
    for (place, pool), quantity in sorted(others.items()):
        is_there = pool and (place in by_pool or (place == code and (place or count.is_beside)))
        in_pool = f" in {pool.removeprefix('stock_').replace('_', ' ')}" if is_there else ""
        at = f"{place or NO_LOCATION}{in_pool}"
        picked = Decimal(0) if place else _quantity_in_hand(in_hand, pool)
        held += picked
        found[at] = found.get(at, Decimal(0)) + quantity - picked
    places = ", ".join(f"{at} ({quantity:f})" for at, quantity in found.items() if quantity)
    parts = [f"at {places}"] if places else []
    return " and ".join([*parts, _describe_in_hand(in_hand, held)] if held else parts)


def in_pools(count: Record, pools: Mapping[str, Decimal], kept: ProductStock) -> Record:
    """Return a count as the service expects it: of these pools if it names none.

    A count of goods at no location has the stock at locations before the load added.
    """
    body = {name: value for name, value in count.body.items() if name != "counted_quantity"} if pools else count.body
    body = body | dict(pools)
    if count.is_beside:
        names = pools or count.field_rows
        counted = {name: "stock_pool_1" if name == "counted_quantity" else name for name in names}
        body = body | {name: body[name] + kept.at_places(pool) for name, pool in counted.items()}
    return count._replace(body=body)
