"""Tables: as many columns as fit, numbers aligned right."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from aisle.terminal_text import fit_middle, shorten_distinctly, width
from aisle.tui.layout.styled_lines import StyledLine
from aisle.tui.message_text import MessageWriter

MIN_COLUMN_CELLS, WIDE_TABLE_CELLS, WIDE_COLUMN_CELLS = 8, 60, 11
"""Cells below which a column is dropped instead of cut; width of a wide table, and the minimum in one."""

NUMBER_PATTERN = re.compile(r"(?:[≈~] )?[-+±]?[\d.,%/ ]*\d[\d.,%/ ]*(?: of \d[\d.,]*)?")
NO_DIGITS = re.compile(r"\D*")
"""Text without digits, which may occur among numbers, such as a dash."""


def number_columns(lines: Sequence[Sequence[str]], columns: int, first: int = 0) -> list[bool]:
    """Return for each column, from `first` on, True if it is aligned right as numbers.

    A name column has numbers only; others may have texts without digits.
    """
    found = []
    for at in range(first, first + columns):
        are = [bool(NUMBER_PATTERN.fullmatch(line[at])) for line in lines]
        named = at == 0 and not all(are)
        found.append(any(are) and not named and all(map(_fits_numbers, are, [line[at] for line in lines])))
    return found


def _fits_numbers(is_number: bool, text: str) -> bool:
    return is_number or bool(NO_DIGITS.fullmatch(text))


def with_distinct_cells(
    lines: Sequence[Sequence[str]], columns: Sequence[int], writer: MessageWriter
) -> list[list[str]]:
    """Return rows whose cells are cut to the widths of these leading columns, so that different cells still differ."""
    cut = [
        shorten_distinctly([line[at] for line in lines], cells, mark=writer.cut_mark)
        for at, cells in enumerate(columns)
    ]
    return [[*cells, *line[len(columns) :]] for *cells, line in zip(*cut, lines, strict=True)]


def natural_widths(lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the natural width of each column."""
    return [max(width(line[index]) for line in lines) for index in range(min((len(line) for line in lines), default=0))]


def column_widths(
    lines: Sequence[Sequence[str]],
    cells: int,
    gap: int,
    state_columns: Collection[int] = (),
    time_columns: Collection[int] = (),
    *,
    name_cells: int = 0,
) -> list[int]:
    """Return the widths of as many leading columns as fit.

    The widest columns shrink first, down to a legible minimum; states and times last. The first column has `name_cells`
    cells before the last ones are dropped.
    """
    columns: list[int] = []
    whole = {*state_columns, *time_columns}
    worth = (
        WIDE_COLUMN_CELLS if cells >= WIDE_TABLE_CELLS else MIN_COLUMN_CELLS - bool(state_columns)
    )  # on 20 columns: 7 beside a number and `confirmed`
    least = -gap
    for at, want in enumerate(natural_widths(lines)):
        least += gap + (want if at in whole else min(want, worth if at else max(worth, name_cells)))
        if columns and least > cells:
            break
        columns.append(want)
    over = sum(columns) + gap * (len(columns) - 1) - cells
    while over > 0:
        widest = max(
            range(len(columns)),
            key=lambda at: (at not in whole and columns[at] > (1 if at else name_cells), columns[at]),
        )
        columns[widest] -= 1
        over -= 1
        if columns[widest] <= 0:
            break
    return [max(1, column) for column in columns]


def table_line(
    texts: Sequence[str],
    columns: Sequence[int],
    right: Sequence[bool],
    gap: int,
    gutter: int,
    roles: tuple[str, str],
    writer: MessageWriter,
    tones: Sequence[str] = (),
) -> StyledLine:
    """Return one row of the table: the first cell in the first role, the others in the second.

    A cell with a tone has that as its role. Each cell stays in its column, so that cells below each other belong
    together.
    """
    line: StyledLine = [(" " * gutter, "")]
    last = len(columns) - 1
    for index, (text, cells, is_right) in enumerate(zip(texts, columns, right, strict=False)):
        shown = fit_middle(text, cells, mark=writer.cut_mark)
        blank = " " * (cells - width(shown))
        end = " " * gap if index < last else ""
        role = (tones[index] if index < len(tones) else "") or roles[min(index, 1)]
        line.append((blank + shown + end if is_right else shown + blank + end, role))
    return line
