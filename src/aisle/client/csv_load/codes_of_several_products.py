"""Codes of products in the cells of a file, and codes that several products share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aisle.barcode_keys import index_keys, lookup_keys, split_codes
from aisle.client.csv_load.columns import parse_objects
from aisle.client.csv_load.csv_table import CsvTable, TableRow


class CodeOwner(NamedTuple):
    """Product of the service with a code in a column.

    `replaced_in` is the row of the file that gives the column other codes; 0 if none does. The product keeps the code
    if that row is refused.
    """

    product: str
    column: str
    replaced_in: int


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
            for _, cell in table.column_cells(name):
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


def warn_of_unit(table: CsvTable, row: TableRow) -> None:
    """Add a warning for a code of both one piece and a whole unit: a scan of it counts one piece."""
    pieces = {
        key
        for name in BARCODE_COLUMNS[::2]
        for code in codes_in_cell(name, row.values.get(name, ""))
        for key in code_keys(code)
    }
    code = row.values.get("purchase_unit_barcode", "")
    if code and not pieces.isdisjoint(code_keys(code)) and row.values.get("purchase_unit_quantity") != 1:
        value = f"{code}: a scan of the unit counts one piece"
        table.notes.add_warning("purchase_unit_barcode is also the code of one piece", value, row.line)
