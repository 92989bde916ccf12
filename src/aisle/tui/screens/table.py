"""Tables: as many columns as there is room for, each cell in its own, numbers at their right."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from aisle.text import fit_middle, told_apart, width
from aisle.tui.catalogue import Voice
from aisle.tui.screens.painted import Line

LEAST, ROOMY, ENOUGH = 8, 60, 11
"""Cells below which a column is left out rather than cut further, and those of one in a table of so many cells."""

NUMBER = re.compile(r"(?:[≈~] )?[-+±]?[\d.,%/ ]*\d[\d.,%/ ]*(?: of \d[\d.,]*)?")
WORDLESS = re.compile(r"\D*")
"""What may stand among numbers: that there is none."""


def figures(lines: Sequence[Sequence[str]], columns: int, first: int = 0) -> list[bool]:
    """Which columns, from the `first` on, are of numbers, that stand at its right: what names a row is nothing else,
    among others there may be words where there is none."""
    found = []
    for at in range(first, first + columns):
        are = [bool(NUMBER.fullmatch(line[at])) for line in lines]
        named = at == 0 and not all(are)
        found.append(any(are) and not named and all(map(_may_stand, are, [line[at] for line in lines])))
    return found


def _may_stand(is_number: bool, text: str) -> bool:
    return is_number or bool(WORDLESS.fullmatch(text))


def named_apart(lines: Sequence[Sequence[str]], cells: int, voice: Voice) -> list[list[str]]:
    """Rows whose first cells are cut where they still differ."""
    names = told_apart([line[0] for line in lines], cells, mark=voice.mark)
    return [[name, *line[1:]] for name, line in zip(names, lines, strict=True)]


def natural(lines: Sequence[Sequence[str]]) -> list[int]:
    """The width that each column would like."""
    return [max(width(line[index]) for line in lines) for index in range(min((len(line) for line in lines), default=0))]


def column_widths(
    lines: Sequence[Sequence[str]],
    cells: int,
    gap: int,
    words: Collection[int] = (),
    dates: Collection[int] = (),
    *,
    named: int = 0,
) -> list[int]:
    """Widths of as many leading columns as fit; the widest give way first, down to what is still worth reading, those
    that are to be whole (`words`, `dates`) last of all. The first has so many cells (`named`) before the last stay."""
    columns: list[int] = []
    whole = {*words, *dates}
    worth = ENOUGH if cells >= ROOMY else LEAST - bool(words)  # on 20 columns: 7 beside a number and `confirmed`
    least = -gap
    for at, want in enumerate(natural(lines)):
        least += gap + (want if at in whole else min(want, worth if at else max(worth, named)))
        if columns and least > cells:
            break
        columns.append(want)
    over = sum(columns) + gap * (len(columns) - 1) - cells
    while over > 0:
        widest = max(
            range(len(columns)), key=lambda at: (at not in whole and columns[at] > (1 if at else named), columns[at])
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
    voice: Voice,
) -> Line:
    """One row of the table: the first cell in the first role, the others in the second. Each stays in its column, so
    that what is under each other belongs together."""
    line: Line = [(" " * gutter, "")]
    last = len(columns) - 1
    for index, (text, cells, is_right) in enumerate(zip(texts, columns, right, strict=False)):
        shown = fit_middle(text, cells, mark=voice.mark)
        blank = " " * (cells - width(shown))
        end = " " * gap if index < last else ""
        line.append((blank + shown + end if is_right else shown + blank + end, roles[min(index, 1)]))
    return line
