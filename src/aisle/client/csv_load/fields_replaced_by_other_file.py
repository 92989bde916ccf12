"""Fields that two files of a load give for one record: which of the files counts.

prices.csv, discount_prices.csv, attributes.csv and free_fields.csv count before products.csv, and prices of a store
before store_products.csv. What they replace is not written: a price that lasts for a moment would become the old price.
A row of theirs that is refused keeps the field as it is, and what belongs to it, until it is corrected. If nobody knows
of which product or store it is, so does each record of which it may be: whose number has one slip less, or any if its
number cannot be read. Of others a warning names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from aisle.client.csv_load.checked_rows import CsvTable, RecordKey, TableRow, Values
from aisle.client.csv_load.conflicting_rows import find_conflicts
from aisle.client.csv_load.file_layouts_and_columns import (
    ATTRIBUTES,
    DISCOUNT_PRICES,
    FREE_FIELDS,
    LAYOUTS,
    PRICES,
    PRODUCTS,
    STORE_PRODUCTS,
)
from aisle.client.csv_load.report import FileNotes, format_rows
from aisle.client.paging import Row

_LAYOUTS = {layout.file: layout for layout in LAYOUTS}
_STAYS = "and stays as it is until that is right"
_KEY = ("store_number", "product_number")
_OTHER_NAMES = {(DISCOUNT_PRICES.file, PRODUCTS.file): {"discount_price": "promotion_price"}}
"""Fields of a product that have another name in a file of one matter."""
_BELONGING = {"price": ("old_price", "special_price"), "discount_price": ("promotion", "promotion_week")}
"""Fields that belong to one of a file of one matter, and are held back with it."""
_REPLACING = (ATTRIBUTES.file, FREE_FIELDS.file, PRICES.file, DISCOUNT_PRICES.file)


class _ReplacingValue(NamedTuple):
    """Value of a field in a file of one matter, as a hash, with the place where it stands; None in a refused row."""

    value: int | None
    line: int
    file: str
    belongs_to: str = ""
    """Field of a refused row with which this one is held back."""
    is_in_doubt: bool = False
    """True if the refused row may be of another record."""


class ReplacedFields:
    """Fields of products.csv and store_products.csv that other files of the load give too, by hashes of their keys."""

    def __init__(self, tables: Iterable[CsvTable] = (), unknown: Mapping[str, Collection[str]] = {}) -> None:
        """Read the files of one matter, if the load has the other file too.

        `unknown` has the keys, by column, that neither the service nor a file of the load has.
        """
        self._tables = {table.name: table for table in tables}
        self._unknown = unknown
        self._unknown_rows: dict[tuple[str, str, str], tuple[str, set[int]]] = {}
        """Refused rows of an unknown product: file and rows, by file, store and field; an unknown store is empty."""
        self._in_doubt: dict[int, _ReplacingValue] = {}
        """Fields of refused rows of an unknown product or store, by hashes of the records of which they may be."""
        self._warned: set[tuple[str, str]] = set()
        self._refused: dict[str, set[int]] = {}
        """Rows that are refused before the load, by file of one matter."""
        self._new_rows: set[int] = set()
        """Rows of new products of which another file has a field."""
        self._held: dict[tuple[str, str], set[int]] = {}
        """Rows of which a field waits for a refused row of another file, by file and field."""
        self._given: dict[int, _ReplacingValue] = {}
        self._held_fields: dict[str, dict[str, Row]] = {}
        """Free fields of the service that a file of one matter has too, by product and key."""
        self._old_prices: dict[int, Any] = {}
        self.held_rows: dict[str, set[int]] = {}
        """Rows, by file, of which a field waits for a refused row of another file."""
        self.replaced_rows: dict[str, set[int]] = {}
        """Rows, by file, of which another file has a field with another value, or in a refused row."""
        for name in names_of_shared(self._tables.values()):
            self._read(self._tables[name])
        if PRICES.file in self._tables and PRODUCTS.file in self._tables:
            self._read_old_prices(self._tables[PRODUCTS.file])

    def apply(self, table: CsvTable, row: TableRow, body: Values, *, is_new: bool = False) -> Values:
        """Return the body of a row without what another file replaces. Add a warning where that is another value.

        `is_new` is True for a product that the service does not have.
        """
        if table.layout is PRICES and self._old_prices:
            old = self._old_prices.get(hash(body["product_number"])) if "store_number" not in body else None
            return body if old is None else {"old_price": old} | body
        has_other = self._given or self._in_doubt or self._unknown_rows
        if not has_other or table.layout not in (PRODUCTS, STORE_PRODUCTS):
            return body
        key = table.name, *_key_of(row.values)
        forms = _forms_in_doubt(key) if self._in_doubt else []
        kept: Values = {}
        for name, value in body.items():
            given = self._given.get(hash((*key, name)))
            if given is None and name not in _KEY:
                given = next(filter(None, (self._in_doubt.get(hash((*form, name))) for form in forms)), None)
            if given is None:
                kept[name] = value
            else:
                self._new_rows |= {row.line} if is_new else set()
                self._warn_of_other(table, row, name, value, given, is_new=is_new)
        self._warn_of_unknown(table, key, kept)
        for field in kept.get("free_fields", ()):
            given = self._given.get(hash((*key, "free_fields", field.get("key"))))
            if given:
                name = f"the free field {field['key']}"
                self._warn_of_other(table, row, name, field.get("value"), given, is_new=is_new)
        if held := self._held_fields.get(key[-1]) if "free_fields" in kept else None:
            fields = {field["key"]: field for field in kept["free_fields"]} | held
            kept["free_fields"] = sorted(fields.values(), key=lambda field: field["sort_order"])
        return kept

    def see(self, key: RecordKey, row: Row) -> None:
        """Keep the free fields of a product of the service that free_fields.csv has too.

        A list of products.csv replaces all of them, and leaves these as they are until that file is loaded.
        """
        for field in row.get("free_fields") or () if self._given else ():
            if hash((PRODUCTS.file, "", *key, FREE_FIELDS.lines_field, field.get("key"))) in self._given:
                self._held_fields.setdefault(key[-1], {})[field["key"]] = field

    def _warn_of_other(
        self, table: CsvTable, row: TableRow, name: str, value: object, given: _ReplacingValue, *, is_new: bool
    ) -> None:
        """Add a warning if the file that counts has another value, or a refused row."""
        if given.value == _hash_of(value):
            return
        self.replaced_rows.setdefault(table.name, set()).add(row.line)
        what = f"{name} is another in {given.file}, which counts"
        if given.value is None:
            self.held_rows.setdefault(table.name, set()).add(row.line)
            self._held.setdefault((table.name, name), set()).add(row.line)
            stays = "and the new product has none until that is right" if is_new else _STAYS
            what = f"{name} is in a refused row of {given.file}, which counts, {stays}"
            if given.is_in_doubt:
                unknown = "which counts, and whose product or store is unknown"
                what = f"{name} may be in a refused row of {given.file}, {unknown}, {stays}"
            elif given.belongs_to:
                what = f"{name} belongs to the {given.belongs_to}, which a refused row of {given.file} has, {stays}"
        said = str(value).lower() if isinstance(value, bool) else value if name != FREE_FIELDS.lines_field else "those"
        shown = f"{said} of {row.values['product_number']} here, row {given.line} there"
        table.notes.add_warning(what, shown, row.line)

    def _warn_of_unknown(self, table: CsvTable, key: tuple[str, str, str], body: Values) -> None:
        """Add a warning, once for a pair of files, if a field may be in a refused row whose product nobody knows."""
        file, store, _ = key
        for name in body if self._unknown_rows else ():
            for of in ((file, store, name), (file, "", name)):
                other, _ = self._unknown_rows.get(of, ("", ()))
                if other and (file, other) not in self._warned:
                    self._warned.add((file, other))
                    table.notes.add_file_warning(self._unknown_reason(other, name))

    def _unknown_reason(self, file: str, name: str) -> str:
        lines = set().union(*(lines for other, lines in self._unknown_rows.values() if other == file))
        is_one = len(lines) == 1
        are, its = (
            ("is refused", "its product or store is") if is_one else ("are refused", "their products or stores are")
        )
        replaces = "it replaces" if is_one else "they replace"
        rows = f"{format_rows(lines)} of {file}, which counts, {are}, and {its} unknown"
        return f"{rows}; {name} in this file may be what {replaces}"

    def rows_holding(self, file: str, name: str) -> Collection[int]:
        """Return the rows of which this field waits for a refused row of another file."""
        return self._held.get((file, name), ())

    def refuse(self, file: str, lines: Iterable[int]) -> None:
        """Hold back what rows give that the service has refused, and correct the warnings of products.csv."""
        new = {*lines} - self._refused[file] if file in self._refused else set()
        if not new:
            return
        before, self._given = self._given, {}
        columns = self._tables[file].layout.columns
        for line, cells in _read_again(self._tables[file]).select_cells(columns, with_broken=True):
            if line in new:
                values = {name: cell for name, cell in zip(columns, cells, strict=True) if cell}
                self._keep(file, line, values, is_refused=True)
        found, self._given = self._given, before | self._given
        if PRODUCTS.file in self._tables:
            self._correct_warnings(self._tables[PRODUCTS.file], found)

    def _correct_warnings(self, table: CsvTable, refused: Mapping[int, _ReplacingValue]) -> None:
        """Say of the fields of loaded rows that they are in rows that were refused later.

        Free fields of products.csv are loaded before the other file's, and stay.
        """
        again = _read_again(table)
        for row in again.rows(find_conflicts(again)[0]):
            for name, value in row.values.items() if not row.reason else ():
                if given := refused.get(hash((table.name, *_key_of(row.values), name))):
                    self._correct_warning(table, row, name, value, given)

    def _correct_warning(self, table: CsvTable, row: TableRow, name: str, value: Any, given: _ReplacingValue) -> None:
        is_list = name == FREE_FIELDS.lines_field
        for one in [f"the free field {field['key']}" for field in value] if is_list else [name]:
            table.notes.remove_warning(f"{one} is another in {given.file}, which counts", row.line)
        if not is_list:
            self._warn_of_other(table, row, name, value, given, is_new=row.line in self._new_rows)

    def is_held_whole(self, table: CsvTable, row: TableRow, body: Values) -> bool:
        """Return True if a row has a field that is held back, and no other is left of it."""
        return row.line in self.held_rows.get(table.name, ()) and set(body) <= {*_KEY}

    def _is_unknown(self, values: Mapping[str, Any]) -> bool:
        """Return True if nobody has the product or the store of a row, which is refused for that."""
        store, product = _key_cells(values)
        return not product or product in self._unknown.get(_KEY[1], ()) or store in self._unknown.get(_KEY[0], ())

    def _read(self, table: CsvTable) -> None:
        again, refused = _read_again(table), self._refused.setdefault(table.name, set())
        for row in again.rows(find_conflicts(again)[0]):
            if row.reason.endswith("delete it"):
                continue  # a total, or a header
            if row.reason or self._is_unknown(row.values):
                refused.add(row.line)
            else:
                self._keep(table.name, row.line, row.values)
        columns = table.layout.columns
        readable = dict(again.select_cells(_KEY, only_readable=True)) if refused else {}
        for line, cells in again.select_cells(columns, with_broken=True) if refused else ():
            if line in refused:
                named = zip(columns.values(), cells, strict=True)
                values = {column.name: cell for column, cell in named if cell or column.required}
                if self._is_unknown(values):
                    self._keep_in_doubt(table.name, line, values, *readable.get(line, _key_cells(values)))
                else:
                    self._keep(table.name, line, values, is_refused=True)

    def _keep(self, file: str, line: int, values: Mapping[str, Any], *, is_refused: bool = False) -> None:
        """Keep the fields of a row; of a refused one, without their values."""
        general = STORE_PRODUCTS.file if values.get("store_number") else PRODUCTS.file
        if general not in self._tables:
            return
        fields = _fields_of(file, general, values, is_refused=is_refused)
        for name, value in fields.items():
            key = hash((general, *_key_of(values), *name))
            self._given.setdefault(key, _ReplacingValue(None if is_refused else _hash_of(value), line, file))
        for owner, belonging in _belonging(values) if is_refused else ():
            key = hash((general, *_key_of(values), belonging))
            self._given.setdefault(key, _ReplacingValue(None, line, file, owner))

    def _keep_in_doubt(self, file: str, line: int, values: Mapping[str, Any], store: str, product: str) -> None:
        """Keep the fields of a refused row for all records of which it may be. A key that cannot be read is empty."""
        general = STORE_PRODUCTS.file if values.get("store_number") else PRODUCTS.file
        if general not in self._tables:
            return
        fields = {name for name, *_ in _fields_of(file, general, values, is_refused=True)}
        fields |= {belonging for _, belonging in _belonging(values)}
        of_store = "" if store in self._unknown[_KEY[0]] else store.lstrip("0")
        is_known = product not in self._unknown[_KEY[1]]
        forms = [f"={product}" if product else ""] if is_known else _forms_with_a_slip(product)
        for field in fields:
            for form in forms:
                value = _ReplacingValue(None, line, file, is_in_doubt=True)
                self._in_doubt.setdefault(hash((general, of_store, form, field)), value)
            if not is_known:
                self._unknown_rows.setdefault((general, of_store, field), (file, set()))[1].add(line)

    def _read_old_prices(self, table: CsvTable) -> None:
        """Keep the old prices that products.csv names, which a price of prices.csv would replace by the one before."""
        again = _read_again(table)
        for row in again.rows(find_conflicts(again)[0]) if table.has_column("old_price") else ():
            if not row.reason and "old_price" in row.values:
                self._old_prices[hash(row.values["product_number"])] = row.values["old_price"]


def names_of_shared(tables: Collection[CsvTable]) -> list[str]:
    """Return the files of one matter of which another file of the load has a column too."""
    generals = [table for table in tables if table.layout in (PRODUCTS, STORE_PRODUCTS)]
    return [
        table.name
        for table in tables
        if table.name in _REPLACING and any(_is_shared(table.name, one) for one in generals)
    ]


def _is_shared(file: str, general: CsvTable) -> bool:
    """Return True if a file has a column of what another is about."""
    names = {"free_fields", "is_promotion", *_LAYOUTS[file].columns} - {*_KEY}
    names |= {belonging for _, belonging in _belonging(_LAYOUTS[file].columns)}
    others = _OTHER_NAMES.get((file, general.name), {})
    return any(general.has_column(others.get(name, name)) for name in names)


def _belonging(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the fields that belong to one of these, after it."""
    return [(name, belonging) for name in names for belonging in _BELONGING.get(name, ())]


def _read_again(table: CsvTable) -> CsvTable:
    """Return the file anew, so that its rows are read without notes on them."""
    again = CsvTable(table.path, table.layout, FileNotes(table.name))
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


def _key_of(values: Mapping[str, Any]) -> tuple[str, str]:
    store, product = _key_cells(values)
    return (store.lstrip("0"), product)


def _key_cells(values: Mapping[str, Any]) -> tuple[str, str]:
    store, product = (str(values.get(name, "")) for name in _KEY)
    return store, product


def _forms_in_doubt(key: tuple[str, str, str]) -> list[tuple[str, str, str]]:
    """Return what a refused row of a record may name: its store or none, its number, one with a slip, or none."""
    file, store, product = key
    forms = ("", f"={product}", *_forms_with_a_slip(product))
    return [(file, of, form) for of in dict.fromkeys((store, "")) for form in forms]


def _forms_with_a_slip(number: str) -> set[str]:
    """Return a number, and it without each of its signs.

    Two numbers share one of these if they differ by a sign too many, too few, another, or exchanged with the next.
    """
    return {f"~{number}", *(f"~{number[:at]}{number[at + 1 :]}" for at in range(len(number)))}


def _hash_of(value: object) -> int:
    return hash(tuple(map(str, value)) if isinstance(value, list) else value)


NO_REPLACED_FIELDS = ReplacedFields()
