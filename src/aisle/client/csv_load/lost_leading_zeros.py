"""Codes of a file that have lost the zeros before them, or behind their point, which the service or another row has.

Every text and list of a store, a location, a product or its attributes is compared with the one held; codes and
numbers of something that has no file of its own are compared with those of all records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aisle.client.client import Client
from aisle.client.csv_load.cells_of_columns import CODE, DOTTED_CODE, LIST, TEXT
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.clean_cells_and_keys import join_digits
from aisle.client.csv_load.file_layouts_and_columns import (
    ATTRIBUTES,
    DELIVERIES,
    DISCOUNT_PRICES,
    FREE_FIELDS,
    LOCATIONS,
    PRODUCTS,
    STORES,
)
from aisle.client.csv_load.service_reads import fetch_store, product_rows
from aisle.client.paging import Row

_PHONES = ("phone_number", "customer_phone")
_OF_FILES = frozenset(
    {
        *("store_number", "product_number", "order_number", "location_code", "preferred_location_code"),
        *("badge", "user", "pin", "key", "store_gln"),
    }
)
"""Codes of what has a file of its own, whose zeros are compared elsewhere, and codes of fixed length."""
_KEYS = {
    STORES.file: ("store_number",),
    PRODUCTS.file: ("product_number",),
    ATTRIBUTES.file: ("product_number",),
    DISCOUNT_PRICES.file: ("product_number", "store_number"),
    FREE_FIELDS.file: ("product_number", "key"),
    LOCATIONS.file: ("store_number", "location_code"),
}
"""Columns that name the record of a row, of files whose texts are compared with those held."""
_OF_PRODUCTS = (ATTRIBUTES.file, DISCOUNT_PRICES.file, FREE_FIELDS.file)
_LISTED_AS = {"area_id": "areaId"}
"""Names in the service's lists, if not those of the columns."""
_DECIMAL = re.compile(r"(\d+)[.,](\d+)", re.ASCII)
_LOST_ZEROS = "may have lost zeros, which a spreadsheet takes off"


class LostZeros:
    """Cells that are numbers to a spreadsheet, and the same codes with the zeros that it takes off."""

    def __init__(self, table: CsvTable) -> None:
        """Read the file once, if it has such columns."""
        self._table = table
        self._key = _KEYS.get(table.name, ())
        kinds = (TEXT, CODE, DOTTED_CODE, LIST) if self._key else ()
        columns = table.layout.columns.values()
        self._shared = frozenset(one.name for one in columns if one.is_code and one.name not in _OF_FILES)
        """Columns that are compared with those of all records."""
        names = [one.name for one in columns if one.name in self._shared or one.kind in kinds]
        self._columns = [name for name in names if table.has_column(name) and name not in self._key]
        self._lists = frozenset(table.columns_of_kind(LIST))
        self._suspect: set[int] = set()
        self._whole: dict[int, str] = {}
        """Codes with their zeros, by the hash of the column and the digits without them."""
        self._suspect_cells: set[int] = set()
        self._records: set[str] = set()
        """Stores or products with suspect cells."""
        self._held: dict[int, str] = {}
        """Codes that a record of the service has with zeros, by the hash of the record, the column and the digits."""
        for _, key, name, cell, digits in self._cells():
            if digits == _bare(digits):
                self._suspect_cells.add(hash((key, name, digits)))
                self._records |= set(key[:1])
                if name in self._shared:
                    self._suspect.add(hash((name, digits)))
            elif name in self._shared and name not in _PHONES:  # of those in a file, their lengths are compared
                self._keep_whole(name, cell, digits)

    def _keep_whole(self, name: str, code: str, digits: str) -> None:
        """Keep a code with zeros before it; those behind a point tell two codes apart (1.1, 1.10)."""
        if digits[0] == "0":
            self._whole.setdefault(hash((name, _bare(digits))), code)

    def _cells(self) -> Iterator[tuple[int, tuple[str, ...], str, str, str]]:
        """Yield the cells that are numbers to a spreadsheet: line, record, column, cell and its digits."""
        count = len(self._key)
        for line, cells in self._table.select_cells((*self._key, *self._columns)) if self._columns else ():
            for name, cell in zip(self._columns, cells[count:], strict=True):
                for part in cell.split("|") if name in self._lists else (cell,):
                    if part and (digits := _number(part)):
                        yield line, tuple(cells[:count]), name, part, digits

    def see(self, key: RecordKey, row: Row) -> None:
        """Store the codes of a record of the service."""
        names = self._table.key_columns
        self._see({**row, **dict(zip(names, key, strict=False))})

    def _see(self, row: Row) -> None:
        if not self._suspect and not self._suspect_cells:
            return
        key = tuple([str(row.get(name) or "") for name in self._key])
        listed = {**row, **(row.get("aisle") or {})}
        for name in self._columns:
            held = listed.get(name) or listed.get(_LISTED_AS.get(name, "")) or ""
            for value in map(str, held if isinstance(held, list) else (held,)):
                self._see_value(key, name, value)

    def _see_value(self, key: tuple[str, ...], name: str, value: str) -> None:
        digits = _number(value)
        if digits == (bare := _bare(digits)):
            return
        if hash((name, bare)) in self._suspect:
            self._keep_whole(name, value, digits)
        if (cell := hash((key, name, bare))) in self._suspect_cells:
            self._held[cell] = value

    async def warn(self, client: Client) -> None:
        """Add a warning for each cell that has the digits of the one held, or of another's, without its zeros.

        Read the records that no list of keys shows. Raise ClientError if that fails.
        """
        if self._table.layout is STORES:
            for store in sorted(self._records):
                self._see(await fetch_store(client, store) | {"store_number": store})
        if self._table.name in _OF_PRODUCTS and self._records:
            async for row in product_rows(client, self._records):
                for one in _free_fields(row) if self._table.layout is FREE_FIELDS else (row,):
                    self._see(one)
        if self._table.layout is DELIVERIES:
            await self._see_suppliers(client)
        found = {key: code for key, code in self._whole.items() if key in self._suspect}
        for line, key, name, cell, digits in self._cells() if found or self._held else ():
            before = self._held.get(hash((key, name, digits))) or found.get(hash((name, digits)))
            if before:
                self._table.notes.add_warning(f"{name} {_LOST_ZEROS}", f"{before} before, {cell} now", line)

    async def _see_suppliers(self, client: Client) -> None:
        """Store the suppliers of the products of deliveries whose supplier can have lost zeros."""
        name = "supplier_code"
        rows = self._table.select_cells(("product_number", name)) if name in self._columns else ()
        products = {product for _, (product, code) in rows if hash((name, _number(code))) in self._suspect}
        async for row in product_rows(client, products):
            self._see_value((), name, str(row.get("supplier_id") or ""))


def _number(cell: str) -> str:
    """Return the digits of a code that is a number to a spreadsheet, with a point between them; else empty."""
    digits = join_digits(cell)
    if digits.isdecimal():
        return digits
    found = _DECIMAL.fullmatch(cell)
    return f"{found[1]}.{found[2]}" if found else ""


def _bare(digits: str) -> str:
    """Return a number as a spreadsheet shows it, without zeros before it and behind its point."""
    whole, _, rest = digits.partition(".")
    bare = whole.lstrip("0") or whole[-1:]
    rest = rest.rstrip("0")
    return f"{bare}.{rest}" if rest else bare


def _free_fields(product: Row) -> Sequence[Row]:
    return [{**one, "product_number": product.get("product_number")} for one in product.get("free_fields") or ()]
