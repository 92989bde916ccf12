"""Rows left out of a load: with keys that cannot be read or are unknown, and totals beside goods at locations.

An order, delivery or count that lacks such a row is not loaded: it would be taken for complete, or counted twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from aisle.client.csv_load.checked_rows import CsvTable, RecordKey, TableRow
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, ORDERS, price_of
from aisle.client.csv_load.report import BadRow, first_of, format_rows

_LINE_CELLS = ("store_number", "order_number", "line_number", "product_number")
_COUNT_CELLS = ("store_number", "product_number", "location_code", "quantity")
_STEPS = (1, 10)
"""Usual steps of line numbers."""
_MAX_SHOWN = 5


class _Line(NamedTuple):
    """Row of an order or delivery; `key` is that of its record, `number` its line number, if it can be read."""

    line: int
    key: RecordKey
    number: Decimal | None


class DamagedLines:
    """Rows of orders or deliveries whose order_number cannot be read, with the records that may lack them."""

    def __init__(self, table: CsvTable) -> None:
        """Read the file; once more if such a row stands where the rows of several records are mixed."""
        self._table = table
        self._records: dict[int, list[RecordKey]] = {}
        runs = list(_runs(_lines(table))) if table.layout in (ORDERS, DELIVERIES) else []
        scattered = table.scattered_keys() if runs else {}
        for above, run, below in runs:
            if any(one.key in scattered for one in (*above, *below)):
                self._add_lacking(run)
            else:
                self._add_adjacent(above, run, below)
        self.left_out: Collection[RecordKey] = {key for keys in self._records.values() for key in keys}
        """Records that may lack such a row."""

    def add_records(self, row: BadRow, key: RecordKey) -> BadRow:
        """Return a bad row with the records that are left out because of it. `key` is that of its own record."""
        names = [one[-1] for one in self._records.get(row.line, ()) if one != key]
        if not names:
            return row
        plural = self._table.name.removesuffix(".csv")
        noun, verb, them = (self._table.layout.noun, "is", "it") if len(names) == 1 else (plural, "are", "them")
        shown = f"{noun} {first_of(names, _MAX_SHOWN)}"
        kept = f"{shown}, of which it may be a line, {verb} left out whole, so that nobody takes {them} for complete"
        return row._replace(reason=f"{row.reason}; {kept}")

    def _add(self, row: _Line, key: RecordKey) -> None:
        keys = self._records.setdefault(row.line, [])
        if key not in keys:
            keys.append(key)

    def _add_adjacent(self, above: Sequence[_Line], run: Sequence[_Line], below: Sequence[_Line]) -> None:
        """Add the records above and below that the rows continue; if they continue none, those that lack them."""
        for row in _continued(above, run, 1):
            self._add(row, above[-1].key)
        for row in _continued(below[::-1], run[::-1], -1):
            self._add(row, below[0].key)
        before: Decimal | None = None
        for row in run:
            is_of_other = before is not None and row.number is not None and row.number > before
            for near in (above, below) if row.line not in self._records and not is_of_other else ():
                if near and _lacks(near[0].key, [one.number for one in near], row):
                    self._add(row, near[0].key)
            before = None if row.line in self._records else row.number

    def _add_lacking(self, run: Sequence[_Line]) -> None:
        """Add all records of the file that have the line number before or after that of a row, and not its own."""
        numbers: dict[RecordKey, list[Decimal | None]] = {}
        for one in _lines(self._table):
            if one.key[-1]:
                numbers.setdefault(one.key, []).append(one.number)
        for row in run:
            for key, its in numbers.items():
                if _is_near(its, row) and _lacks(key, its, row):
                    self._add(row, key)


def _lines(table: CsvTable) -> Iterator[_Line]:
    """Yield the rows with a line; the number of a record that cannot be read is empty."""
    for line, (store, name, number, product) in table.select_cells(_LINE_CELLS, only_readable=True):
        if number or product:
            yield _Line(line, (store, name), price_of(number))


def _runs(lines: Iterable[_Line]) -> Iterator[tuple[list[_Line], list[_Line], list[_Line]]]:
    """Yield adjacent rows without a readable number, with the rows of the records above and below."""
    above: list[_Line] = []
    run: list[_Line] = []
    for name, group in groupby(lines, lambda one: one.key if one.key[-1] else ()):
        rows = list(group)
        if not name:
            run = rows
            continue
        if run:
            yield above, run, rows
        above, run = rows, []
    if run:
        yield above, run, []


def _continued(record: Sequence[_Line], run: Sequence[_Line], sign: int) -> Iterator[_Line]:
    """Yield the first rows of a run that continue the line numbers of a record: upwards, or with -1 downwards."""
    last = record[-1].number if record else None
    its = [one.number for one in record]
    for row in run if record else ():
        is_next = row.number is None or last is None or (row.number - last) * sign > 0
        if not (is_next and _lacks(record[-1].key, its, row)):
            return
        last = last if row.number is None else row.number
        yield row


def _is_near(numbers: Collection[Decimal | None], row: _Line) -> bool:
    number = row.number
    return number is None or any(number - step in numbers or number + step in numbers for step in _STEPS)


def _lacks(key: RecordKey, numbers: Collection[Decimal | None], row: _Line) -> bool:
    return _is_of_store(key, row) and (row.number is None or row.number not in numbers)


def _is_of_store(key: RecordKey, row: _Line) -> bool:
    return row.key[0] in ("", key[0])


class DamagedCount(NamedTuple):
    """Row of stock with a location, of which the store or product cannot be read, or is unknown, and is empty here."""

    line: int
    store: str
    product: str
    quantity: Decimal | None

    def may_be_of(self, store: str, product: str) -> bool:
        """Return True if the row may be of a product in a store."""
        return self.store in ("", store) and self.product in ("", product)


def damaged_counts(table: CsvTable, unknown: Mapping[str, Collection[str]]) -> list[DamagedCount]:
    """Return the rows of stock with a location whose store or product cannot be read, or nobody has."""
    found = []
    for line, (store, product, place, quantity) in table.select_cells(_COUNT_CELLS, only_readable=True):
        of_store = "" if store in unknown.get("store_number", ()) else store
        of_product = "" if product in unknown.get("product_number", ()) else product
        if place and not (of_store and of_product):
            found.append(DamagedCount(line, of_store, of_product, price_of(quantity)))
    return found


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
