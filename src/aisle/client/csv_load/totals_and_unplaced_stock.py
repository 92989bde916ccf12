"""Rows of stock without a location, of products that also have rows with one: totals, or goods at no location."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import NamedTuple

from aisle.client.csv_load.checked_rows import CsvTable, TableRow
from aisle.client.csv_load.records_left_out_for_bad_keys import DamagedCount
from aisle.client.csv_load.report import format_rows

_NAMED = ("store_number", "product_number", "location_code")
_FIRST_POOL = 1
EMPTY_PLACE = "location_code is empty, while other rows have one, and the goods are counted at no place"


class Placeless:
    """Products of a file that have rows without a location, and other rows with one, whatever their order."""

    def __init__(self, table: CsvTable) -> None:
        """Read the file once, and once more if it has rows without a location."""
        self._table = table
        without: set[int] = set()
        self.has_places = False
        for _, (store, product, place) in table.select_cells(_NAMED):
            self.has_places = self.has_places or bool(place)
            if not place:
                without.add(hash((store, product)))
        placed: set[int] = set()
        lasts: dict[int, int] = {}
        stores: dict[int, str] = {}
        for line, (store, product, place) in table.select_cells(_NAMED) if without else ():
            name = hash((store, product))
            if name in without:
                lasts[name], stores[name] = line, store
                if place:
                    placed.add(name)
        self.is_mixed = bool(without) and self.has_places
        """True if rows of the file have a location, and others have none."""
        self._lasts = {name: line for name, line in lasts.items() if name in placed}
        self.stores = {stores[name] for name in placed}
        """Stores with such products."""

    def warn_of_empty(self, row: TableRow) -> None:
        """Add a warning for a row without a location, if others of the file have one: merged cells leave them so."""
        if self.has_places and not row.values.get("location_code"):
            self._table.notes.add_warning(
                EMPTY_PLACE, f"{row.values['quantity']} of {row.values['product_number']}", row.line
            )

    def last(self, store: str, product: str) -> int:
        """Return the last row of a product that has rows with and without a location; 0 for other products."""
        return self._lasts.get(hash((store, product)), 0)


class Reading(NamedTuple):
    """Meaning of a row without a location, beside rows with one; `reason` is why it is refused."""

    is_total: bool
    reason: str
    at_places: Decimal
    """Quantity of the rows with locations that are loaded."""


class PlacedRows:
    """Rows of a product with a location."""

    def __init__(self, rows: Iterable[TableRow], places: Collection[str], damaged: Iterable[DamagedCount]) -> None:
        """Store the rows. `places` are the locations of the store; empty if unknown.

        `damaged` are rows that may be of the product: their store or product cannot be read, or is unknown.
        """
        self._rows = [row for row in rows if row.key[-1]]
        self._places = places
        self._damaged = list(damaged)

    def read(self, row: TableRow) -> Reading | None:
        """Return the meaning of a row without a location; None if no row of its pool has a location.

        A row is a total if it has the sum of the rows that are loaded. If it may be that of all, or if no row with a
        location is loaded that shows what it is, it is refused.
        """
        pool, quantity = row.values.get("stock_pool"), row.values["quantity"]
        beside = [one for one in self._rows if self._is_of_pool(one, pool)]
        if row.key[-1]:
            return None
        if not beside:
            named = [one.line for one in self._damaged if one.product]
            return Reading(False, _held_reason(quantity, named), Decimal(0)) if named else None
        refused = [one for one in beside if one.reason or (self._places and one.key[-1] not in self._places)]
        lines = {one.line for one in refused}
        loaded = sum((one.values["quantity"] for one in beside if one.line not in lines), Decimal(0))
        is_total, reason = bool(quantity) and quantity == loaded, ""
        if len(refused) == len(beside):
            reason = _held_reason(quantity, lines)
        if refused and quantity and not is_total:
            known = [one.values["quantity"] for one in refused if not one.reason]
            if len(known) < len(refused) or quantity == loaded + sum(known):
                reason = (
                    f"quantity {plain_number(quantity)} without a place may be the total of the product's rows with"
                    f" places, of which {_format_not_loaded(lines)}; correct what is wrong there"
                )
        if not (reason or is_total) and (damaged := self._missing_rows(quantity - loaded)):
            reason = (
                f"quantity {plain_number(quantity)} without a place may be the total of the product's rows with places,"
                f" and {format_rows(damaged)} may be of the product; correct what is wrong there"
            )
        return Reading(is_total, reason, loaded)

    def _missing_rows(self, missing: Decimal) -> list[int]:
        """Return the rows that may be what a total has more than the rows that are loaded."""
        return [one.line for one in self._damaged if missing > 0 and (one.quantity is None or one.quantity <= missing)]

    @staticmethod
    def _is_of_pool(row: TableRow, pool: int | None) -> bool:
        its = row.values.get("stock_pool")
        return not pool or its == pool or (its is None and (pool == _FIRST_POOL or bool(row.reason)))


def _held_reason(quantity: Decimal, lines: Collection[int]) -> str:
    are = "is" if len(lines) == 1 else "are"
    return (
        f"quantity {plain_number(quantity)} without a place is held back: whether it is all of the product, or what"
        f" is at no place, is shown by {format_rows(lines)}, which {are} not loaded; correct what is wrong there"
    )


def _format_not_loaded(lines: Collection[int]) -> str:
    return f"{format_rows(lines)} {'is' if len(lines) == 1 else 'are'} not loaded"


def plain_number(number: int | Decimal) -> str:
    """Return a number without zeros behind its decimals: 13.0 is `13`."""
    return f"{Decimal(number).normalize():f}"
