"""Products that rows of products.csv name beside their own, and that neither the service nor the file has."""

from __future__ import annotations

from collections.abc import Iterator

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.columns import PRODUCTS
from aisle.client.csv_load.near_keys import are_near, nearest
from aisle.client.csv_load.parse_cells import parse_objects
from aisle.client.csv_load.service_reads import as_file_warning, product_rows
from aisle.client.csv_load.shared_codes import NUMBER_COLUMN

_NUMBERS = ("purchase_unit_product_number", "referral_product_id", "smallest_product_number")
_PARTS = "set_product"
"""Column with the products of a set, as JSON."""


async def warn_of_unknown_products(table: CsvTable, client: Client) -> None:
    """Add a warning for each product that a row names and nobody has. Raise TransportError without a response."""
    if table.layout is not PRODUCTS:
        return
    own = {number for _, (number,) in table.select_cells((NUMBER_COLUMN,))}
    named = [one for one in _references(table) if one[-1] not in own]
    missing = {number for *_, number in named}
    if not missing:
        return
    with as_file_warning(table, "whether the products that it names are there could not be read"):
        missing -= {str(row.get(NUMBER_COLUMN) or "") async for row in product_rows(client, missing)}
        if not missing:
            return
        known = own | {str(row.get(NUMBER_COLUMN) or "") async for row in client.rows("list-products")}
        for line, column, number in named:
            if number in missing:
                near = nearest(number, (one for one in known if are_near(one, number)))
                value = f"{number}; {near}?" if near else number
                table.notes.add_warning(f"{column} names a product that the service does not have", value, line)


def _references(table: CsvTable) -> Iterator[tuple[int, str, str]]:
    """Yield row, column and number of each product that a row names."""
    names = [name for name in (*_NUMBERS, _PARTS) if table.has_column(name)]
    for line, cells in table.select_cells(names, only_readable=True) if names else ():
        for name, cell in zip(names, cells, strict=True):
            for number in _parts(cell) if name == _PARTS else (cell,):
                if number:
                    yield line, name, number


def _parts(cell: str) -> list[str]:
    try:
        return [str(part.get("product_number") or "") for part in parse_objects(cell)] if cell else []
    except ValueError:
        return []
