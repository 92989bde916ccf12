"""Figures and locations that are the number of a day (46366 is 10-12-2026 to a spreadsheet) or of their product."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.clean_cells_by_column_kind import MONEY, NUMBER, WHOLE
from aisle.client.csv_load.date_cells import SERIAL_START, is_recent_day
from aisle.client.csv_load.file_layouts_and_columns import LOCATIONS, ORDERS, price_of

_SHORTEST_NUMBER = {MONEY: 3, NUMBER: 4, WHOLE: 4}
"""Digits from which a figure is hardly the number of its product by chance, by the kind of its column."""
_LEAST_LARGE = 10_000
"""Figure from which days are none among other figures."""
_NEVER_LARGE = frozenset({"min", "max", "no_of_containers"})
"""Figures that are no number of a day even where the file has no other figure."""
_DAY_DIGITS = 5
_DAY_AS_CODE = "location_code is what a spreadsheet makes of a date; if the code was like one (10-12), write it as text"


def warn_of_numbers_of_days_and_products(table: CsvTable) -> None:
    """Add warnings for figures and locations that are the number of a day, and figures that are that of a product."""
    shortest = {name: digits for kind, digits in _SHORTEST_NUMBER.items() for name in table.columns_of_kind(kind)}
    figures = {name: digits for name, digits in shortest.items() if not name.endswith("line_number")}
    if table.layout is ORDERS:
        figures.pop("quantity", None)  # such a quantity is warned of as too large
    if figures:
        _warn_of_figures(table, figures)
    if table.layout is LOCATIONS:
        _warn_of_locations(table)


def _warn_of_figures(table: CsvTable, shortest: Mapping[str, int]) -> None:
    """Add warnings for figures; `shortest` has the least digits of a number of a product, by column."""
    is_of_products = "product_number" in table.layout.columns
    owner = "product_number" if is_of_products else table.key_columns[-1]
    days: dict[str, list[tuple[int, str, str]]] = {name: [] for name in shortest}
    small = dict.fromkeys(shortest, 0)
    """Figures below the number of a day, less those that are as large."""
    for line, (of, *cells) in table.select_cells((owner, *shortest)):
        for name, cell in zip(shortest, cells, strict=True):
            if is_of_products and len(cell) >= shortest[name] and cell.lstrip("0") == of.lstrip("0"):
                table.notes.add_warning(f"{name} is the number of the product", cell, line)
            elif is_recent_day(cell):
                days[name].append((line, cell, of))
            elif figure := price_of(cell):
                small[name] += 1 if figure < _LEAST_LARGE else -1
    for name, found in days.items():
        for line, cell, of in found if small[name] >= (0 if name in _NEVER_LARGE else len(found)) else ():
            what = f"{name} may be a day, of which a spreadsheet makes a number"
            table.notes.add_warning(what, f"{cell} of {of}, {_day_of(cell)}", line)


def _warn_of_locations(table: CsvTable) -> None:
    """Add warnings for locations that are the number of a day, unless most are of five digits."""
    rows = [(line, code) for line, (code,) in table.select_cells(("location_code",)) if code]
    numbers = [(line, code) for line, code in rows if code.isdecimal() and len(code) == _DAY_DIGITS]
    for line, code in numbers if len(numbers) * 2 <= len(rows) else ():
        if is_recent_day(code):
            table.notes.add_warning(_DAY_AS_CODE, f"{code}, {_day_of(code)}", line)


def _day_of(cell: str) -> str:
    return f"the number of {SERIAL_START + timedelta(days=int(cell)):%d-%m-%Y}"
