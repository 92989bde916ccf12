"""Rows of a file that a stray quotation mark makes the text of one cell, up to the next mark.

Programs other than spreadsheets do not double a quotation mark in a text. A cell with line ends is such a text if one
of its lines reads as a row of the table; an address or a comment does not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aisle.client.csv_load.clean_cells import trim_blanks
from aisle.client.csv_load.clean_cells_by_column_kind import DATE, FLAG, MONEY, NUMBER, POOL, WHOLE
from aisle.client.csv_load.columns import Column
from aisle.client.csv_load.local_number_and_date_notation import LOCAL_FLAGS

_FIGURES = (NUMBER, MONEY, WHOLE, POOL)
_FIGURE = re.compile(r"[^\w]*(?:[^\W\d_]{1,3}[\s.]*)?\d[\d.,'\u2019\s+-]*[^\w]*(?:[^\W\d_]{1,3}\W*)?")
"""Number with a currency or unit of up to three letters beside it."""
_FLAGS = frozenset({"true", "false", "0", "1", *LOCAL_FLAGS})


class RowsInCell(NamedTuple):
    """Lines of a row that may be rows of their own, as cells; `is_sure` is False if their cells do not fit."""

    rows: list[list[str]]
    is_sure: bool


class TableForm(NamedTuple):
    """Columns of a table, the places of those that name a record, and its separator."""

    columns: Sequence[Column | None]
    key_indexes: Sequence[int]
    separator: str

    def rows_in_cell(self, lines: Sequence[str], before: Sequence[str]) -> RowsInCell | None:
        """Return the lines of a row as rows, if one of them has as many cells as the header, or as the row before.

        Return None if none has.
        """
        rows = [cells_of_line(line, self.separator) for line in lines]
        width = min(len(self.columns), len(before) or len(self.columns))
        width = max(width, min(2, len(self.columns)))
        whole = [row for row in rows[1:] if len(row) >= width and any(map(str.strip, row))]
        if self.separator in ",;" and not any(cell[:1] == " " for cell in rows[0]):
            whole = [row for row in whole if not all(cell[:1] == " " for cell in row[1:]) or len(row) == 1]
        if not whole or (len(self.columns) == 1 and not _has_digit(rows[0][0])):
            return None
        return RowsInCell(rows, any(self._fits(row, rows[0]) for row in whole))

    def cell_of_several(self, row: Sequence[str]) -> Column | None:
        """Return the column of a cell that holds the cells that a short row lacks; None if there is none."""
        missing = len(self.columns) - len(row)
        for at, cell in enumerate(row) if missing > 0 else ():
            parts = [*row[:at], *cell.split(self.separator), *row[at + 1 :]]
            if len(parts) == len(self.columns) and self._fits(parts, row):
                return self.columns[at]
        return None

    def _fits(self, row: Sequence[str], first: Sequence[str]) -> bool:
        """Return True if the cells of a row can be those of the columns, and its keys look as in the first row."""
        if self.separator in ",;" and any(cell[:1] == " " for cell in row) > any(cell[:1] == " " for cell in first):
            return False
        cells = [*row, *[""] * len(self.columns)]
        named = zip(cells, self.columns, strict=False)
        return all(_is_cell_of(column, cell) for cell, column in named if column) and all(
            _is_like(cells[at], first[at] if at < len(first) else "") for at in self.key_indexes
        )


def cells_of_line(line: str, separator: str) -> list[str]:
    """Return the cells of a line that is read as a row, without quotation marks."""
    text = line.strip("\r\n")
    cells = next(csv.reader([text], delimiter=separator), []) if text.count('"') > 1 else text.split(separator)
    return [cell.replace('"', "") for cell in cells]


def _is_cell_of(column: Column, cell: str) -> bool:
    bare = trim_blanks(cell)
    if not bare:
        return not column.required
    if column.kind in _FIGURES:
        return _FIGURE.fullmatch(bare) is not None
    if column.kind == FLAG:
        return bare.casefold() in _FLAGS
    return column.kind != DATE or any(map(str.isdecimal, bare))


def _is_like(key: str, other: str) -> bool:
    """Return True if a key has digits where another has some, and no blanks where that has none."""
    bare, its = trim_blanks(key), trim_blanks(other)
    return (_has_digit(bare) or not _has_digit(its) or not bare) and (" " in its or " " not in bare)


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


def opening_reason(line: int, rows: int, cells: Iterable[str], columns: Sequence[Column | None]) -> str:
    """Return why the row is refused whose quotation mark makes the rows after it text of its cell."""
    at = next((at for at, cell in enumerate(cells) if "\n" in cell or "\r" in cell), 0)
    column = columns[at] if at < len(columns) else None
    where = column.name if column else "a cell"
    taken = f"row {line + 1} is" if rows == 2 else f"rows {line + 1} to {line + rows - 1} are"
    return (
        f"has a quotation mark in {where} that ends in row {line + rows - 1} only, so {taken} text of that cell; take"
        " the mark out or double it, or write the cell on one line, if it is one"
    )


def half_quoted_reason(name: str, cell: str) -> str:
    """Return why a row is refused of which a quotation mark makes several cells one."""
    return (
        f"has several cells in one pair of quotation marks, so that {name} is {cell!r}, and others are missing; put"
        " each cell into marks of its own, or take the marks out"
    )


def inner_reason(line: int) -> str:
    """Return why a row is refused that stands in a cell of another."""
    return f"is text of a cell of row {line}, because of a quotation mark there; correct row {line}"


POSSIBLE_ROWS = "a cell has line ends, and a line of it as many separators as a row; look for a stray quotation mark"
"""Warning on a cell whose lines are hardly rows."""
