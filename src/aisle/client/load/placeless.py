"""Stock rows without a location, of products that also have rows with one: totals, or goods at no location."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from aisle.client.load.csv_table import CsvTable, TableRow

_NAMED = ("store_number", "product_number", "location_code", "stock_pool", "quantity")
_FIRST_POOL = "1"
EMPTY_PLACE = "location_code is empty, while other rows have one, and the goods are counted at no place"


class _Placed(NamedTuple):
    """Stock of a product at its locations in the file, by pool (empty for none), and the last row with the product."""

    pools: dict[str, Decimal]
    last: int


class Placeless:
    """Interpretation of a file's rows without a location, whatever the order of its rows."""

    def __init__(self, table: CsvTable) -> None:
        """Read the file once, and once more if it has rows without a location."""
        self._table = table
        without: set[int] = set()
        self.has_places = False
        for _, store, product, place, _, _ in _rows(table):
            self.has_places = self.has_places or bool(place)
            if not place:
                without.add(hash((store, product)))
        self._placed: dict[int, _Placed] = {}
        lasts: dict[int, int] = {}
        for line, store, product, place, pool, quantity in _rows(table) if without else ():
            name = hash((store, product))
            if name in without:
                lasts[name] = line
                if place:
                    pools = self._placed.setdefault(name, _Placed({}, 0)).pools
                    pools[pool] = pools.get(pool, Decimal(0)) + quantity
        for name, placed in self._placed.items():
            self._placed[name] = placed._replace(last=lasts[name])

    def warn_of_empty(self, row: TableRow) -> None:
        """Add a warning for a row without a location, if others of the file have one: merged cells leave them so."""
        if self.has_places and not row.values.get("location_code"):
            self._table.notes.add_warning(
                EMPTY_PLACE, f"{row.values['quantity']} of {row.values['product_number']}", row.line
            )

    def last(self, store: str, product: str) -> int:
        """Return the last row of a product that has rows with and without a location; 0 for other products."""
        placed = self._placed.get(hash((store, product)))
        return placed.last if placed else 0

    def at_places(self, row: TableRow) -> Decimal | None:
        """Return the file's stock of the product and pool at locations; None if it has no such rows."""
        if row.values.get("location_code"):
            return None
        placed = self._placed.get(hash((row.values["store_number"], row.values["product_number"])))
        pool = str(row.values.get("stock_pool") or "")
        if placed is None:
            return None
        if not pool:
            return sum(placed.pools.values(), Decimal(0))
        found = [placed.pools[one] for one in {pool, "" if pool == _FIRST_POOL else pool} if one in placed.pools]
        return sum(found, Decimal(0)) if found else None


def _rows(table: CsvTable) -> Iterator[tuple[int, str, str, str, str, Decimal]]:
    for line, (store, product, place, pool, quantity) in table.select_cells(_NAMED):
        try:
            yield line, store, product, place, pool, Decimal(quantity)
        except InvalidOperation:
            continue  # it is refused with its row
