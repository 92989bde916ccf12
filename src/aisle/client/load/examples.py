"""The columns of each file in words: which every row needs, what goes in, and an example."""

from __future__ import annotations

from collections.abc import Iterator

from aisle.client.load import cells
from aisle.client.load.columns import LAYOUTS, Column, Layout
from aisle.client.load.report import LoadError

_KINDS = {
    cells.TEXT: ("text", "Melk 1 l"),
    cells.CODE: ("code", "0226"),
    cells.DOTTED: ("code", "A-1"),
    cells.BARCODE: ("barcode", "9520001100109"),
    cells.CONTAINER: ("number of a container", "095200010000000012"),
    cells.BARCODES: ("barcodes, commas between", "9520001100109,9520001100055"),
    cells.NUMBER: ("number", "1.10"),
    cells.NUMBERS: ("numbers, bars between", "1|2.5"),
    cells.POOL: ("stock pool", "1"),
    cells.FLAG: ("true or false", "true"),
    cells.DATE: ("date", "2026-11-28"),
    cells.LIST: ("texts, bars between", "shelf|front"),
    cells.JSON: ("JSON", '[{"unit_quantity": 6}]'),
}
_EXAMPLES = {
    "store_number": "0042",
    "store_name": "Kerkstraat",
    "user": "anna",
    "name": "Anna",
    "badge": "0012345",
    "role": "staff",
    "order_number": "004711",
    "line_number": "1",
    "quantity": "12",
    "no_of_containers": "2",
    "location_order": "10",
    "customer_name": "Anna Vos",
    "key": "bio",
    "value": "yes",
    "sort_order": "1",
    "opening_hours": '[{"key": "monday", "value": "8-18"}]',
    "min": "2",
    "max": "12",
    "purchase_unit_quantity": "6",
}


def column_lines(file: str = "") -> Iterator[str]:
    """The columns of one file, or of all of them, as lines. Raises LoadError for a file that no load reads."""
    wanted = file.casefold().removesuffix(".csv")
    found = [layout for layout in LAYOUTS if not wanted or layout.file == f"{wanted}.csv"]
    if not found:
        names = ", ".join(layout.file for layout in LAYOUTS)
        raise LoadError(f"No load reads a file {file}; name one of these: {names}.")
    for at, layout in enumerate(found):
        if at:
            yield ""
        yield from _lines(layout)


def _lines(layout: Layout) -> Iterator[str]:
    yield layout.file
    columns = sorted(layout.columns.values(), key=lambda column: not column.required)
    width = max(len(column.name) for column in columns)
    kind_width = max(len(_KINDS[column.kind][0]) for column in columns)
    for column in columns:
        kind, _ = _KINDS[column.kind]
        needed = "required" if column.required else ""
        yield f"  {column.name:{width}}  {needed:8}  {kind:{kind_width}}  {example_of(column)}"


def example_of(column: Column) -> str:
    """A cell that the column takes."""
    return _EXAMPLES.get(column.name.rpartition(".")[2], _KINDS[column.kind][1])
