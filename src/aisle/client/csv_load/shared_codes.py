"""Codes of products that several products have, in a file or in the service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aisle.barcode_numbers import index_keys, lookup_keys, split_codes
from aisle.client.csv_load.cells_of_columns import parse_objects
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey, TableRow
from aisle.client.csv_load.file_layouts_and_columns import PRODUCTS
from aisle.client.paging import Row


class CodeOwner(NamedTuple):
    """Product of the service with a code in a column.

    `replaced_in` is the row of the file that gives the column other codes; 0 if none does. The product keeps the code
    if that row is refused, or `is_kept` is True as that row has the code too.
    """

    product: str
    column: str
    replaced_in: int
    is_kept: bool = False


class SharedCodes:
    """Codes that several products of a file share: barcodes, or one's barcode and another's number.

    Ask in the order of the rows.
    """

    def __init__(self, table: CsvTable) -> None:
        seen: set[int] = set()
        self._shared: set[int] = set()
        self._first: dict[str, tuple[int, str]] = {}
        self._numbers: set[str] = set()
        """Keys of which the first use is a product's number."""
        for name in CODE_COLUMNS:
            for _, (cell,) in table.select_cells((name,)) if table.has_column(name) else ():
                for key in map(hash, {key for code in codes_in_cell(name, cell) for key in keys_in_column(name, code)}):
                    if key in seen:
                        self._shared.add(key)
                    seen.add(key)

    def earlier_product(self, column: str, code: str, product: str, line: int) -> tuple[int, str] | None:
        """Return the earlier row, and its product, with this code; None if there is none."""
        shared = [key for key in keys_in_column(column, code) if hash(key) in self._shared]
        for key in shared:
            if column == NUMBER_COLUMN and key not in self._first:
                self._numbers.add(key)
        firsts = [(key, self._first.setdefault(key, (line, product))) for key in shared]
        return next(
            (
                first
                for key, first in firsts
                if first[1] != product and not (column == NUMBER_COLUMN and key in self._numbers)
            ),
            None,
        )


NUMBER_COLUMN = "product_number"
FURTHER_BARCODES = "barcodes_array"
BARCODE_COLUMNS = ("barcode", "purchase_unit_barcode", FURTHER_BARCODES)
"""Columns with barcodes of a product."""
UNITS = "units"
CODE_COLUMNS = ("product_number", *BARCODE_COLUMNS, UNITS)
"""Columns with the codes by which a product is found."""


def codes_in_cell(column: str, cell: Any) -> list[str]:
    """Return the codes of a cell of that column; those of a barcode's cell as `CsvTable.select_cells` joins them.

    The units of a product are JSON in a file, and a list in a record.
    """
    if column == UNITS:
        return [code for unit in _units_in(cell) if (code := str(unit.get("unit_barcode") or ""))]
    parts = split_codes(cell) if column == FURTHER_BARCODES else cell.split(",") if column != NUMBER_COLUMN else [cell]
    return list(dict.fromkeys(code for code in parts if code))


def _units_in(cell: Any) -> Sequence[Mapping[str, Any]]:
    try:
        return parse_objects(cell) if isinstance(cell, str) else cell or ()
    except ValueError:
        return ()


def code_keys(code: str) -> tuple[str, ...]:
    """Return the keys under which a code is stored or looked up."""
    return tuple(dict.fromkeys((*index_keys(code), *lookup_keys(code))))


def keys_in_column(column: str, code: str) -> tuple[str, ...]:
    """Return the keys of a code of that column; a product's number has no other forms."""
    return index_keys(code) if column == NUMBER_COLUMN else code_keys(code)


class CodeComparison:
    """Codes of products.csv that the service has on other products, and those that a product keeps."""

    def __init__(self, table: CsvTable) -> None:
        self._table = table
        self._is_scanned = table.layout is not PRODUCTS
        self._named: set[int] = set()
        """Hashes of the products of the file."""
        self.held: set[int] = set()
        """Hashes of products of the file, each with a code that the service has on it."""
        self._products: dict[int, int] = {}
        """Products of the file by the keys of their codes, all as hashes; 0 for a code of several."""
        self._units: set[int] = set()
        """Hashes of products of the service with a quantity of their purchase unit."""
        self._given: set[int] = set()
        """Hashes of the products of the file, each with a column of codes that its row names."""
        self.own: dict[str, Row] = {}
        """Codes of products of which the file gives one in another column than the service has it in."""
        self._empty: set[int] = set()
        self._codes: dict[str, dict[tuple[str, str], None]] = {}
        """Products and columns of the service with codes that the file gives to other products, by key."""
        self._kept: dict[str, list[tuple[str, str]]] = {}

    def see(self, key: RecordKey, row: Row) -> None:
        """Compare the codes of a product."""
        if not self._is_scanned:
            self._scan()
        product = key[-1]
        if hash(product) in self._named:
            self.held |= {hash((product, code)) for _, code, _ in codes_of(row)}
            self._keep_own(product, row)
            self._units |= {hash(product)} if row.get("purchase_unit_quantity") else set()
        for field in CODE_COLUMNS if self._products or self._empty else ():
            if row.get(field) and hash((product, field)) in self._empty:
                self._kept.setdefault(product, []).append((field, str(row[field])))
            for code in _code_keys_of_cells([(field, row.get(field) or "")]):
                if self._products.get(hash(code), hash(product)) != hash(product):
                    self._codes.setdefault(code, {})[product, field] = None

    def _keep_own(self, product: str, row: Row) -> None:
        """Keep the codes of a product that has one of its row in another column, which the row leaves empty."""
        for field in CODE_COLUMNS[1:]:
            keys = _code_keys_of_cells([(field, row.get(field) or "")])
            if hash((product, field)) not in self._given and any(
                self._products.get(hash(key)) == hash(product) for key in keys
            ):
                self.own[product] = {
                    name: row[name] for name in (*CODE_COLUMNS, "purchase_unit_quantity") if name in row
                }

    def _scan(self) -> None:
        self._is_scanned = True
        for _, (product, *cells) in self._table.select_cells(CODE_COLUMNS):
            mine = hash(product)
            self._named.add(mine)
            self._empty |= {hash((product, name)) for name in self._empty_columns(cells)}
            self._given |= {hash((product, name)) for name, cell in zip(CODE_COLUMNS[1:], cells, strict=True) if cell}
            for key in _code_keys_of_cells(zip(CODE_COLUMNS, (product, *cells), strict=True)):
                self._products[hash(key)] = mine if self._products.get(hash(key), mine) == mine else 0

    def _empty_columns(self, cells: Sequence[str]) -> Iterator[str]:
        """Yield the columns of codes that are empty in a row, or of which only the barcode is named."""
        for name, cell in zip(BARCODE_COLUMNS, cells[: len(BARCODE_COLUMNS)], strict=True):
            is_whole = self._table.has_column(name) or (name == FURTHER_BARCODES and cells[0] and "," not in cells[0])
            if not cell and is_whole:
                yield name

    def warn(self) -> None:
        """Add warnings for codes that products keep because the file does not name them."""
        for line, (product,) in self._table.select_cells(("product_number",)) if self._kept else ():
            for name, codes in self._kept.get(product, ()):
                what = f"{name} is empty, and the service keeps its codes; write (empty) to take them away"
                self._table.notes.add_warning(what, f"{codes} of {product}", line)
        self._warn_of_units()

    def _warn_of_units(self) -> None:
        """Add a warning for each unit without a quantity in a file that has quantities of units."""
        names = (NUMBER_COLUMN, "purchase_unit_barcode", "purchase_unit_quantity")
        rows = self._table.select_cells(names, only_readable=True) if all(map(self._table.has_column, names)) else ()
        for line, (product, code, quantity) in rows:
            if code and not quantity and hash(product) not in self._units:
                what = (
                    "purchase_unit_barcode has no purchase_unit_quantity, so that a scan of the unit counts one piece"
                )
                self._table.notes.add_warning(what, f"{code} of {product}", line)

    def owners(self) -> dict[str, list[CodeOwner]]:
        """Return who has the codes, by key, with the row of the file that replaces them in the same column."""
        owners = {product for places in self._codes.values() for product, _ in places}
        replaced: dict[tuple[str, str], int] = {}
        kept: set[tuple[str, str]] = set()
        for line, (product, *cells) in self._table.select_cells(CODE_COLUMNS) if owners else ():
            if product in owners:
                named = [name for name, cell in zip(CODE_COLUMNS[1:], cells, strict=True) if cell]
                named += [FURTHER_BARCODES] if "," in cells[0] else []
                replaced |= {(product, name): line for name in named}
                of_row = _code_keys_of_cells(zip(CODE_COLUMNS, (product, *cells), strict=True))
                kept |= {(code, product) for code in of_row if code in self._codes}
        self._warn_of_moved(replaced)
        return {
            code: [CodeOwner(*place, replaced.get(place, 0), (code, place[0]) in kept) for place in places]
            for code, places in self._codes.items()
        }

    def _warn_of_moved(self, replaced: Mapping[tuple[str, str], int]) -> None:
        """Add a warning on the file if it gives codes of its products to several others of them."""
        moved = {self._products[hash(code)] for code, places in self._codes.items() if replaced.keys() & places.keys()}
        if len(moved - {0}) >= _MANY_MOVED:
            self._table.notes.add_file_warning(
                f"gives codes of its products to {len(moved - {0})} others of them; was a column sorted alone, or moved"
                " by a row?"
            )


_MANY_MOVED = 3
"""Number of products with a code of another one from which a column may have been sorted alone."""


def _code_keys_of_cells(cells: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """Yield the keys of all codes in these columns."""
    for name, cell in cells:
        for code in codes_in_cell(name, cell):
            yield from keys_in_column(name, code)


def warn_of_unit(table: CsvTable, own: Mapping[str, Row], row: TableRow) -> None:
    """Add a warning for a code of two quantities of a product: a scan of it counts one of them alone.

    `own` has the codes of products of the service of which a row gives some in another column.
    """
    seen: dict[str, Any] = {}
    for column, code, quantity in _quantities(own.get(row.values[NUMBER_COLUMN], {}) | row.values):
        its = next((seen[key] for key in code_keys(code) if key in seen), quantity)
        if its != quantity:
            what = f"{column} is also the code of {'one piece' if its == 1 else 'another unit'}"
            counts = "one piece" if its == 1 else its
            table.notes.add_warning(what, f"{code}: a scan of the unit counts {counts}", row.line)
        elif quantity is not None:
            seen |= dict.fromkeys(code_keys(code), quantity)


def _quantities(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield column, code and quantity of each code of a product, in the order in which a scan finds them."""
    for column in (NUMBER_COLUMN, "barcode", FURTHER_BARCODES):
        for code in codes_in_cell(column, values.get(column) or ""):
            yield column, code, 1
    for unit in values.get(UNITS) or ():
        if code := str(unit.get("unit_barcode") or ""):
            yield "unit_barcode in units", code, unit.get("unit_quantity")
    for code in codes_in_cell("purchase_unit_barcode", values.get("purchase_unit_barcode") or ""):
        yield "purchase_unit_barcode", code, values.get("purchase_unit_quantity")


def codes_of(row: Row) -> Iterator[tuple[str, str, bool]]:
    """Yield number, code, and True for the number itself, of each code of a product."""
    number = str(row.get("product_number") or "")
    if number:
        yield number, number, True
    for column in CODE_COLUMNS[1:] if number else ():
        for code in codes_in_cell(column, row.get(column) or ""):
            yield number, code, False
