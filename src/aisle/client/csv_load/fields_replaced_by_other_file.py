"""Fields that two files of one load give for the same record: the file of that one matter counts.

prices.csv, discount_prices.csv, attributes.csv and free_fields.csv count before products.csv, and prices of a store
before store_products.csv. What they replace is not written: a price that lasts for a moment would become the old price.
A row of theirs that is refused keeps the field as it is, until it is corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from aisle.client.csv_load.columns import (
    ATTRIBUTES,
    DISCOUNT_PRICES,
    FREE_FIELDS,
    LAYOUTS,
    PRICES,
    PRODUCTS,
    STORE_PRODUCTS,
)
from aisle.client.csv_load.conflicting_rows import find_conflicts
from aisle.client.csv_load.csv_table import CsvTable, TableRow, Values
from aisle.client.csv_load.report import FileNotes

_LAYOUTS = {layout.file: layout for layout in LAYOUTS}
_STAYS = "and stays as it is until that is right"
_KEY = ("store_number", "product_number")
_OTHER_NAMES = {(DISCOUNT_PRICES.file, PRODUCTS.file): {"discount_price": "promotion_price"}}
"""Fields of a product that have another name in a file of one matter."""


class _ReplacingValue(NamedTuple):
    """Value of a field in a file of one matter, as a hash, with the place where it stands; None in a refused row."""

    value: int | None
    line: int
    file: str


class ReplacedFields:
    """Fields of products.csv and store_products.csv that other files of the load give too, by hashes of their keys."""

    def __init__(self, tables: Iterable[CsvTable] = ()) -> None:
        """Read the files of one matter, if the load has the other file too."""
        self._tables = {table.name: table for table in tables}
        self._given: dict[int, _ReplacingValue] = {}
        self._old_prices: dict[int, Any] = {}
        self.held_rows: dict[str, set[int]] = {}
        """Rows, by file, of which a field waits for a refused row of another file."""
        for name in (ATTRIBUTES.file, FREE_FIELDS.file, PRICES.file, DISCOUNT_PRICES.file):
            if name in self._tables and any(self._is_shared(name, one) for one in (PRODUCTS.file, STORE_PRODUCTS.file)):
                self._read(self._tables[name])
        if PRICES.file in self._tables and PRODUCTS.file in self._tables:
            self._read_old_prices(self._tables[PRODUCTS.file])

    def apply(self, table: CsvTable, row: TableRow, body: Values, *, is_new: bool = False) -> Values:
        """Return the body of a row without what another file replaces. Add a warning where that is another value.

        `is_new` is True for a product that the service does not have.
        """
        if table.name == PRICES.file and self._old_prices:
            old = self._old_prices.get(hash(body["product_number"])) if "store_number" not in body else None
            return body if old is None else {"old_price": old} | body
        if not self._given or table.name not in (PRODUCTS.file, STORE_PRODUCTS.file):
            return body
        key = table.name, *_key_of(row.values)
        kept: Values = {}
        for name, value in body.items():
            given = self._given.get(hash((*key, name)))
            if given is None:
                kept[name] = value
            else:
                self._warn_of_other(table, row, name, value, given, is_new=is_new)
        for field in kept.get("free_fields", ()):
            given = self._given.get(hash((*key, "free_fields", field.get("key"))))
            if given:
                name = f"the free field {field['key']}"
                self._warn_of_other(table, row, name, field.get("value"), given, is_new=is_new)
        return kept

    def _warn_of_other(
        self, table: CsvTable, row: TableRow, name: str, value: object, given: _ReplacingValue, *, is_new: bool
    ) -> None:
        """Add a warning if the file that counts has another value, or a refused row."""
        if given.value == _hash_of(value):
            return
        what = f"{name} is another in {given.file}, which counts"
        if given.value is None:
            self.held_rows.setdefault(table.name, set()).add(row.line)
            stays = "and the new product has none until that is right" if is_new else _STAYS
            what = f"{name} is in a refused row of {given.file}, which counts, {stays}"
        said = str(value).lower() if isinstance(value, bool) else value if name != FREE_FIELDS.lines_field else "those"
        shown = f"{said} of {row.values['product_number']} here, row {given.line} there"
        table.notes.add_warning(what, shown, row.line)

    def is_held_whole(self, table: CsvTable, row: TableRow, body: Values) -> bool:
        """Return True if a row has a field that is held back, and no other is left of it."""
        return row.line in self.held_rows.get(table.name, ()) and set(body) <= {*_KEY}

    def _is_shared(self, file: str, general: str) -> bool:
        """Return True if the load has the other file, and that has a column of what this file is about."""
        names = {"free_fields", "is_promotion", *_LAYOUTS[file].columns} - {*_KEY}
        others = _OTHER_NAMES.get((file, general), {})
        table = self._tables.get(general)
        return table is not None and any(table.has_column(others.get(name, name)) for name in names)

    def _read(self, table: CsvTable) -> None:
        again, refused = _read_again(table), set()
        for row in again.rows(find_conflicts(again)[0]):
            if row.reason:
                refused.add(row.line)
            else:
                self._keep(table.name, row.line, row.values)
        columns = _LAYOUTS[table.name].columns
        for line, cells in again.select_cells(columns, with_broken=True) if refused else ():
            if line in refused:
                named = zip(columns.values(), cells, strict=True)
                values = {column.name: cell for column, cell in named if cell or column.required}
                self._keep(table.name, line, values, is_refused=True)

    def _keep(self, file: str, line: int, values: Mapping[str, Any], *, is_refused: bool = False) -> None:
        """Keep the fields of a row; of a refused one, without their values."""
        general = STORE_PRODUCTS.file if values.get("store_number") else PRODUCTS.file
        if general not in self._tables:
            return
        for name, value in _fields_of(file, general, values, is_refused=is_refused).items():
            key = hash((general, *_key_of(values), *name))
            self._given.setdefault(key, _ReplacingValue(None if is_refused else _hash_of(value), line, file))

    def _read_old_prices(self, table: CsvTable) -> None:
        """Keep the old prices that products.csv names, which a price of prices.csv would replace by the one before."""
        again = _read_again(table)
        for row in again.rows(find_conflicts(again)[0]) if table.has_column("old_price") else ():
            if not row.reason and "old_price" in row.values:
                self._old_prices[hash(row.values["product_number"])] = row.values["old_price"]


def _read_again(table: CsvTable) -> CsvTable:
    """Return the file anew, so that its rows are read without notes on them."""
    again = CsvTable(table.path, _LAYOUTS[table.name], FileNotes(table.name))
    again.mistaken_keys = table.mistaken_keys
    return again


def _fields_of(
    file: str, general: str, values: Mapping[str, Any], *, is_refused: bool = False
) -> dict[tuple[str, ...], Any]:
    """Return the values of a row as fields of the other file; a discount price says whether there is a promotion.

    A refused row of free fields keeps all those of the product, because products.csv replaces them together.
    """
    if file == FREE_FIELDS.file:
        of_list = (FREE_FIELDS.lines_field,)
        return {of_list: None} if is_refused else {(*of_list, str(values["key"])): values.get("value")}
    names = _OTHER_NAMES.get((file, general), {})
    fields = {names.get(name, name): value for name, value in values.items() if name not in _KEY}
    if "discount_price" in values:
        fields.setdefault("is_promotion", bool(values["discount_price"]))
    return {(name,): value for name, value in fields.items() if name in _LAYOUTS[general].columns}


def _key_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    store, product = (str(values.get(name, "")) for name in _KEY)
    return (store.lstrip("0"), product)


def _hash_of(value: object) -> int:
    return hash(tuple(map(str, value)) if isinstance(value, list) else value)


NO_REPLACED_FIELDS = ReplacedFields()
