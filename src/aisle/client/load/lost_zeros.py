"""Codes beside the keys that may have lost their leading zeros: telephone numbers, postal codes, customer numbers."""

from __future__ import annotations

from aisle.client.load.cell_cleaning import join_digits
from aisle.client.load.csv_table import CsvTable
from aisle.client.paging import Row

_PHONES = ("phone_number", "customer_phone")
_COLUMNS = (*_PHONES, "postal_code", "customer_zipcode", "delivery_zipcode", "customer_number", "supplier_id")
_WHAT = "may have lost zeros, which a spreadsheet takes off"


class LostZeros:
    """Cells of digits alone, and the same codes with zeros before them, in the file or the service."""

    def __init__(self, table: CsvTable) -> None:
        """Read the file once, if it has such columns."""
        self._table = table
        self._columns = [name for name in _COLUMNS if table.has_column(name)]
        self._suspect: set[tuple[str, str]] = set()
        self._whole: dict[tuple[str, str], str] = {}
        """Codes with their zeros, by column and digits without them."""
        for _, cells in table.select_cells(self._columns) if self._columns else ():
            for name, cell in zip(self._columns, cells, strict=True):
                if cell and (digits := join_digits(cell)).isdecimal():
                    if digits[0] != "0":
                        self._suspect.add((name, digits))
                    elif name not in _PHONES:  # of those in a file, their lengths are compared
                        self._whole.setdefault((name, digits.lstrip("0")), cell)

    def see(self, row: Row) -> None:
        """Store the codes of a record of the service."""
        listed = {**row, **(row.get("aisle") or {})} if self._suspect else {}
        for name in self._columns if listed else ():
            value = str(listed.get(name) or "")
            if value[:1] == "0" and (digits := join_digits(value)).isdecimal():
                key = name, digits.lstrip("0")
                if key in self._suspect:
                    self._whole.setdefault(key, value)

    def warn(self) -> None:
        """Add a warning for each cell that has another's digits without its zeros."""
        found = self._whole.keys() & self._suspect
        for line, cells in self._table.select_cells(self._columns) if found else ():
            for name, cell in zip(self._columns, cells, strict=True):
                key = name, join_digits(cell)
                if key in found and cell:
                    self._table.notes.add_warning(f"{name} {_WHAT}", f"{self._whole[key]} before, {cell} now", line)
