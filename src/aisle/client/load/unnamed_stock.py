"""Goods that a load of stock does not name: changed by other work at a location, or at other locations."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import NamedTuple

from aisle.client.load.csv_table import CsvTable
from aisle.client.load.existing_stock import ProductStock
from aisle.client.load.records import Record

_NAMED = ("store_number", "product_number", "location_code")
_BARE, _FIRST_POOL = "counted_quantity", "stock_pool_1"
_CHANGED = (
    "the goods there were changed by other work than a load, and are left as they are (to count them all the same, put"
    " only such rows in a stock.csv in a folder of its own, and load that with --recount)"
)
_BESIDE = "goods of the product lie where the file has no row for it, and stay there"


class _Coming(NamedTuple):
    """Effect of a count on the total of its product, and the stock at other locations as text."""

    total: Decimal
    change: Decimal
    other_locations: str


class UnnamedStock:
    """Check of each count that is to be sent against the product's stock in the service before the load."""

    def __init__(self, table: CsvTable) -> None:
        self._table = table
        self._named: set[int] | None = None
        self._coming: dict[int, _Coming] = {}
        self._come: dict[tuple[str, str], tuple[int, _Coming]] = {}

    def unchanged(
        self, count: Record, kept: ProductStock, worked: AbstractSet[tuple[str, str]] = frozenset()
    ) -> Record | None:
        """Return the part of a count whose stock no other work has changed, if any; add warnings for the rest.

        `worked` are the product's locations and pools with other work: goods that it took away must not come back.
        """
        changed = set()
        for name, line in count.field_rows.items():
            old, new = _book(count, name, kept), Decimal(str(count.body[name]))
            if old != new and (old or _is_worked(count, name, worked)):
                changed.add(name)
                where = f"{count.body['product_number']} at {_place(count.body.get('location_code', ''))}"
                others = _words(_others(kept, count.body.get("location_code", "")))
                also = f"it also lies at {others}, and " if others else ""
                total = sum(kept.spots.values()) + new - old
                value = f"{where}: {old:f} in the service, {new:f} in the file; {also}its total would be {total:f}"
                self._table.notes.add_warning(_CHANGED, value, line)
        if not changed:
            return count
        at = {name: line for name, line in count.field_rows.items() if name not in changed}
        body = {name: value for name, value in count.body.items() if name not in changed}
        return count._replace(body=body, line=min(at.values()), rows=len(at), field_rows=at) if at else None

    def expect(self, count: Record, kept: ProductStock) -> None:
        """Record the effect of a count before it is sent, if the product is at other locations too."""
        code, product = count.body.get("location_code", ""), count.body["product_number"]
        change = sum(
            (Decimal(str(count.body[name])) - _book(count, name, kept) for name in count.field_rows), Decimal(0)
        )
        if code or count.is_beside:
            others = _others(kept, code)
            unnamed = {place: quantity for place, quantity in others.items() if not self._names(count, product, place)}
        else:
            rests = (Decimal(str(count.body[name])) - kept.at_places(_pool(name)) for name in count.field_rows)
            rest = sum((rest for rest in rests if rest < 0), Decimal(0))
            unnamed = _others(kept, "") | {"": rest} if rest else {}
        if unnamed:
            total = sum(kept.spots.values(), Decimal(0))
            self._coming[count.line] = _Coming(total, change, _words(unnamed))

    def done(self, count: Record) -> None:
        """Record that the service has accepted a count."""
        if coming := self._coming.pop(count.line, None):
            key = (count.store, count.body["product_number"])
            line, before = self._come.get(key, (count.line, coming._replace(change=Decimal(0))))
            self._come[key] = (line, before._replace(change=before.change + coming.change))

    def note_all(self) -> None:
        """Add a warning for each counted product that is also elsewhere, with its new total."""
        for (_, product), (line, coming) in self._come.items():
            total = coming.total + coming.change
            value = f"{product} also lies at {coming.other_locations}; its total is now {total:f}"
            self._table.notes.add_warning(_BESIDE, value, line)

    def _names(self, count: Record, product: str, place: str) -> bool:
        """Return True if the file has a row for the product at a location."""
        if self._named is None:
            self._named = {hash(where) for _, where in self._table.select_cells(_NAMED)}
        return hash((count.store, product, place)) in self._named


def _book(count: Record, name: str, kept: ProductStock) -> Decimal:
    """Return the service's stock for a field of a count."""
    code = count.body.get("location_code", "")
    if code and name == _BARE:
        return sum((quantity for (place, _), quantity in kept.spots.items() if place == code), Decimal(0))
    if code or count.is_beside:
        return kept.spots.get((code, _pool(name)), Decimal(0))
    return kept.pools.get(_pool(name), Decimal(0))


def _is_worked(count: Record, name: str, worked: AbstractSet[tuple[str, str]]) -> bool:
    """Return True if other work was done where a field of a count counts."""
    code = count.body.get("location_code", "")
    of_product = not code and not count.is_beside
    return any((of_product or at == code) and (not pool or name in (_BARE, pool)) for at, pool in worked)


def _pool(name: str) -> str:
    return _FIRST_POOL if name == _BARE else name


def _others(kept: ProductStock, code: str) -> dict[str, Decimal]:
    """Return the stock at other locations, and at none, by location."""
    found: dict[str, Decimal] = {}
    for (place, _), quantity in kept.spots.items():
        if place != code:
            found[place] = found.get(place, Decimal(0)) + quantity
    return {place: quantity for place, quantity in found.items() if quantity}


def _place(code: str) -> str:
    return code or "no place"


def _words(others: Mapping[str, Decimal]) -> str:
    return ", ".join(f"{_place(code)} ({quantity:f})" for code, quantity in sorted(others.items()))
