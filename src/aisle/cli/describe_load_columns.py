"""Help on the columns of the files that `aisle load` reads, with an example of each."""

from __future__ import annotations

from collections.abc import Iterator

from aisle.client.csv_load import LoadError
from aisle.client.csv_load import clean_cells_by_column_kind as kinds
from aisle.client.csv_load.columns import Column
from aisle.client.csv_load.file_layouts_and_columns import LAYOUTS, FileLayout
from aisle.contract.request_encoding import encode_json

_KIND_TEXTS = {
    kinds.TEXT: ("text", "Melk 1 l"),
    kinds.CODE: ("code", "0226"),
    kinds.DOTTED_CODE: ("code", "A-1"),
    kinds.BARCODE: ("barcode", "9520001100109"),
    kinds.CONTAINER: ("number of a container", "095200010000000010"),
    kinds.BARCODES: ("barcodes, commas between", "9520001100109,9520001100055"),
    kinds.NUMBER: ("number", "1.10"),
    kinds.WHOLE: ("whole number", "1"),
    kinds.MONEY: ("number", "1.10"),
    kinds.NUMBERS: ("numbers, bars between", "1|2.5"),
    kinds.POOL: ("stock pool", "1"),
    kinds.ROLE: ("code", "staff"),
    kinds.FLAG: ("true or false", "true"),
    kinds.DATE: ("date", "2026-11-28"),
    kinds.LIST: ("texts, bars between", "shelf|front"),
    kinds.JSON: ("JSON", ""),
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
    "unit_barcode": "19520001100106",
    "unit_name": "doos",
    "unit_quantity": "6",
    "set_product_number": "0227",
    "set_item_quantity": "2",
    "opening_hours.key": "monday",
    "opening_hours.value": "8-18",
    "day": "1",
    "delivery_offset": "2",
    "ordering_offset": "1",
    "printer_type": "1",
    "time": "10:30",
    "printer_ip": "192.0.2.7",
    "week_numbers": "1-26,40",
    "country_code": "NL",
    "countries_allowed": "NL|BE",
    "countries_not_allowed": "DE",
    "edit_min_max_percentage": "20",
    "min": "2",
    "max": "12",
    "purchase_unit_quantity": "6",
}


def describe_columns(file: str = "") -> Iterator[str]:
    """Yield the columns of one file, or of all of them, as lines. Raise LoadError for an unknown file."""
    wanted = file.casefold().removesuffix(".csv")
    found = [layout for layout in LAYOUTS if not wanted or layout.file == f"{wanted}.csv"]
    if not found:
        names = ", ".join(layout.file for layout in LAYOUTS)
        raise LoadError(f"No load reads a file {file}; name one of these: {names}.")
    for at, layout in enumerate(found):
        if at:
            yield ""
        yield from _describe_layout(layout)


def _describe_layout(layout: FileLayout) -> Iterator[str]:
    yield layout.file
    columns = sorted(layout.columns.values(), key=lambda column: not column.required)
    width = max(len(column.name) for column in columns)
    kind_width = max(len(_KIND_TEXTS[column.kind][0]) for column in columns)
    for column in columns:
        kind, _ = _KIND_TEXTS[column.kind]
        needed = "required" if column.required else ""
        yield f"  {column.name:{width}}  {needed:8}  {kind:{kind_width}}  {example_cell(column)}"


def example_cell(column: Column) -> str:
    """Return a cell that the column accepts."""
    if column.fields:
        return (
            f"[{encode_json({name: _example_value(column, field) for name, field in column.fields.items()}).decode()}]"
        )
    return _EXAMPLES.get(column.name.rpartition(".")[2], _KIND_TEXTS[column.kind][1])


def _example_value(column: Column, field: Column) -> object:
    """Return a value that a field of the objects of a column can have."""
    return field.parse(_EXAMPLES.get(f"{column.name}.{field.name}") or example_cell(field))
