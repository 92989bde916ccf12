"""Blocks of rows of a detail page, in columns and on pages, and tables with as many columns as fit."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Block, DetailView, Msg
from aisle.terminal_text import fit, fit_middle, shorten_distinctly, width, wrap
from aisle.tui.layout.choices_and_key_hints import flow_items
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import StyledLine, clip_line, left_and_right, line_width, side_by_side
from aisle.tui.message_text import MAX_LENGTH, MessageWriter

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


MIN_BLOCK_CELLS = 36
"""Minimum cells of a column."""

MIN_FULL_WIDTH_CELLS, MIN_ROWS_BELOW = 96, 4
"""Width of a page on which a wide block may have a width of its own, and rows that the other blocks keep."""

MAX_COLUMN_CELLS = 110
"""Cells above which a column is split, even if all would fit into it."""

MAX_COLUMNS = 3
"""Maximum number of columns; more of them cannot be read quickly."""

NARROW_CELLS = 42
"""Screen width below which a row that is too long takes two lines."""

MIN_LEGIBLE_CELLS = 5
"""Cells, with the mark, below which the rest of a cut text is dropped."""

MIN_TITLED_LINES = 3
"""Lines for the blocks below which their titles are left out."""

STYLE_ROLES = {
    **{kind: f"look-{kind}" for kind in (GOOD, WRONG, INFO, ASK)},
    "accent": "block",
    "bold": "row",
    "dim": "hint",
    "reversed": "cursor",
}
"""Role of each style of a sample."""


class LayoutUnit(NamedTuple):
    """Lines that stay together: the title of a block, or one of its rows."""

    lines: list[StyledLine]
    title_of_block: int = -1
    """Index of the block that it is the title of; -1 for a row."""
    block: int = 0


MAX_TEXT_LINES = 60
"""Maximum lines of a text."""

SMALL_ROWS = 14
"""Rows below which there are no blank lines, and only the first page has the whole head."""


def layout_pages(view: DetailView, box: LayoutBox, rows_per_page: Sequence[int]) -> list[list[StyledLine]]:
    """Return the blocks on as many pages as they need. `rows_per_page`: lines of the first page and of later ones."""
    if not view.blocks or max(rows_per_page) <= 0:
        return []
    if min(rows_per_page) <= 0:  # the head takes all of the first page only
        return [[], *layout_pages(view, box, [max(rows_per_page)] * 2)]
    if wide := _full_width_lines(view.blocks, box, min(rows_per_page)):
        rows = [rows_per_page[0] - len(wide), *rows_per_page[1:]]
        beside = layout_pages(view._replace(blocks=view.blocks[1:]), box, rows) or [[]]
        return [[*wide, *beside[0]], *beside[1:]]
    most = max(1, min(MAX_COLUMNS, len(view.blocks), (box.cells + 3) // (MIN_BLOCK_CELLS + 3)))
    for count in range(1, most + 1):
        cells, blocks = _units_in_columns(view, box, count, min(rows_per_page))
        columns = _whole_columns(blocks, count, rows_per_page[0]) if cells <= MAX_COLUMN_CELLS or count == most else []
        if columns:
            break
    else:
        count, cells, columns = _most_rows_in_columns(view, box, most, rows_per_page)
    pages = []
    for first in range(0, len(columns), count):
        page = columns[first]
        for at, column in enumerate(columns[first + 1 : first + count], 1):
            page = side_by_side(page, column, at * (cells + 3) - 3, [("   ", "")])
        pages.append([clip_line(line, box.cells) for line in page])
    return pages


def _units_in_columns(view: DetailView, box: LayoutBox, count: int, rows: int) -> tuple[int, list[list[LayoutUnit]]]:
    """Return the width of each of so many columns, and the units of each block in it."""
    cells = (box.cells - 3 * (count - 1)) // count
    return cells, [
        _block_units(_without_title(block), index, cells, box.writer)[1:]
        if rows < MIN_TITLED_LINES or (block.is_compact and box.rows < SMALL_ROWS)
        else _block_units(block, index, cells, box.writer)
        for index, block in enumerate(view.blocks)
    ]


def _most_rows_in_columns(
    view: DetailView, box: LayoutBox, most: int, rows_per_page: Sequence[int]
) -> tuple[int, int, list[list[StyledLine]]]:
    """Return the number of columns that shows most rows on the first page, their width, and the divided blocks.

    Fewer than `most` columns are taken if each row has one line in them, without a cut, and as many rows are shown.
    """
    best, found = -1, (1, box.cells, list[list[StyledLine]]())
    for count in sorted({max(1, min(most, (box.cells + 3) // (NARROW_CELLS + 3))), most}):
        cells, blocks = _units_in_columns(view, box, count, min(rows_per_page))
        if count < most and not all(_is_whole(block, cells, box.writer) for block in view.blocks):
            continue
        columns, shown = _broken_columns(blocks, count, rows_per_page)
        if shown > best:
            best, found = shown, (count, cells, columns)
    return found


def _full_width_lines(blocks: Sequence[Block], box: LayoutBox, rows: int) -> list[StyledLine]:
    """Return the first block over the full width, with a blank line, if half of it is too little for its rows.

    Return no lines if the block does not ask for that, or if too few of the `rows` would remain for the others.
    """
    first, half = blocks[0], (box.cells - 3) // 2
    if not first.is_wide or len(blocks) < 2 or box.cells < MIN_FULL_WIDTH_CELLS:
        return []
    lines = block_lines(first, box.cells, box.writer)
    is_needed = any(width("".join(text for text, _ in line).rstrip()) > half for line in lines)
    return [*lines, []] if is_needed and len(lines) + 1 + MIN_ROWS_BELOW <= rows else []


def _without_title(block: Block) -> Block:
    """Return a block for a layout without titles; rows that need the title get it as a last cell."""
    return block._replace(rows=tuple((*row, block.title) for row in block.rows)) if block.is_title_needed else block


def block_lines(block: Block, cells: int, writer: MessageWriter) -> list[StyledLine]:
    """Return a block with its title."""
    return [line for unit in _block_units(block, 0, cells, writer) for line in unit.lines]


def _block_units(block: Block, index: int, cells: int, writer: MessageWriter) -> list[LayoutUnit]:
    title: list[StyledLine] = [[(writer.fit_line(block.title, cells), "block")]]
    return [
        LayoutUnit(title, index, index),
        *(LayoutUnit(lines, -1, index) for lines in _block_rows(block, cells, writer)),
    ]


def _block_rows(block: Block, cells: int, writer: MessageWriter) -> list[list[StyledLine]]:
    """Return the rows of a block as a table, with their numbers in front."""
    if block.cell_styles:
        return [_style_sample_lines(row, block.cell_styles, cells, writer) for row in block.rows]
    gutter = _number_width(block)
    if not gutter and all(len(row) == 1 for row in block.rows):
        return [[[(part, "row")]] for (cell,) in block.rows for part in wrap(writer.write(cell), cells, MAX_TEXT_LINES)]
    most = max((len(row) for row in block.rows), default=0)
    texts: list[list[str]] = []
    for level in (MAX_LENGTH, 1, 0):
        texts = [[writer.write(cell, level) for cell in row] + [""] * (most - len(row)) for row in block.rows]
        natural = [max(width(row[at]) for row in texts) for at in range(most)]
        if sum(natural) + 2 * (most - 1) + gutter <= cells:
            break
    else:
        if cells < NARROW_CELLS and most > 1:
            texts = with_distinct_cells(
                texts if block.is_compact else _two_line_texts(block, cells - 2, writer), [cells - gutter], writer
            )
            return [_two_line_row(row, number, block, cells, writer) for number, row in enumerate(texts, 1)]
    columns = column_widths(texts, cells - gutter, 2) if texts else []
    texts = with_distinct_cells(texts, columns, writer)
    right = [
        at > 0 and all(not row[at] or NUMBER_PATTERN.fullmatch(row[at]) for row in texts) for at in range(len(columns))
    ]
    rows: list[list[StyledLine]] = []
    for number, row in enumerate(texts, 1):
        roles = ("cursor", "cursor") if number - 1 in block.edited_rows else ("row", "row-dim")
        line = table_line(row, columns, right, 2, 0, roles, writer)[1:]
        rows.append([[*_number_cell(number, block), *line]])
    return rows


def _is_whole(block: Block, cells: int, writer: MessageWriter) -> bool:
    """Return True if each row of a block fits on one line."""
    texts = [[writer.write(cell, 0) for cell in row] for row in block.rows]
    most = max(map(len, texts), default=0)
    columns = [max(width(row[at]) for row in texts if at < len(row)) for at in range(most)]
    return sum(columns) + 2 * (most - 1) + _number_width(block) <= cells


def _style_sample_lines(
    row: Sequence[Msg], styles: Sequence[str], cells: int, writer: MessageWriter
) -> list[StyledLine]:
    """Return cells in their own styles, on as many lines as they need."""
    items: list[StyledLine] = [
        [(f" {writer.fit_line(cell, max(1, cells - 2))} ", STYLE_ROLES[look])]
        for cell, look in zip(row, styles, strict=True)
    ]
    return flow_items(items, cells, 1)


def _two_line_texts(block: Block, cells: int, writer: MessageWriter) -> list[list[str]]:
    """Return the texts of rows of two lines, in the longest length in which no second line is cut."""
    texts: list[list[str]] = []
    for level in (MAX_LENGTH, 1, 0):
        texts = [[writer.write(cell, level) for cell in row] for row in block.rows]
        if all(width("  ".join(filter(None, row[1:]))) <= cells for row in texts):
            break
    return texts


def _two_line_row(row: Sequence[str], number: int, block: Block, cells: int, writer: MessageWriter) -> list[StyledLine]:
    """Return the name of the row, and below it the other cells."""
    head = _number_cell(number, block)
    first: StyledLine = [*head, (fit_middle(row[0], cells - line_width(head), mark=writer.cut_mark), "row")]
    rest = "  ".join(text for text in row[1:] if text)
    if block.is_compact and rest and line_width(first) + 2 + width(rest) <= cells:
        return [left_and_right(first, [(rest, "row-dim")], cells)]
    return [first, [("  " + _join_legible(row[1:], cells - 2, writer), "row-dim")]] if rest else [first]


def _join_legible(texts: Sequence[str], cells: int, writer: MessageWriter) -> str:
    """Return texts side by side; the last one is left out if too little of it would remain."""
    shown = [text for text in texts if text]
    space = cells - width("  ".join(shown[:-1])) - 2
    if len(shown) > 1 and space < min(width(shown[-1]), MIN_LEGIBLE_CELLS):
        return _join_legible(shown[:-1], cells, writer)
    return fit("  ".join(shown), cells, mark=writer.cut_mark)


def _number_cell(number: int, block: Block) -> StyledLine:
    cells = _number_width(block)
    if not cells:
        return []
    return [(f"{number:>{cells - 1}} ", "row-key")] if number <= block.numbered_rows else [(" " * cells, "")]


def _number_width(block: Block) -> int:
    """Return the cells for row numbers. While a value is changed they are blank, so that no row moves."""
    last = len(block.rows) if block.edited_rows else block.numbered_rows
    return len(str(last)) + 1 if last else 0


def _whole_columns(blocks: Sequence[list[LayoutUnit]], count: int, rows: int) -> list[list[StyledLine]]:
    """Return each block undivided, in columns of minimum height; empty if one page is not enough."""
    heights = [sum(len(unit.lines) for unit in units) for units in blocks]
    for height in range(max(heights), rows + 1):
        columns: list[list[StyledLine]] = [[]]
        for units, needed in zip(blocks, heights, strict=True):
            gap = 1 if columns[-1] else 0
            if columns[-1] and len(columns[-1]) + gap + needed > height:
                columns.append([])
                gap = 0
            columns[-1] += [*([[]] * gap), *(line for unit in units for line in unit.lines)]
        if len(columns) <= count:
            return columns
    return []


def _broken_columns(
    blocks: Sequence[list[LayoutUnit]], count: int, rows_per_page: Sequence[int]
) -> tuple[list[list[StyledLine]], int]:
    """Return blocks divided over as many pages as they need, and the number of rows on the first page.

    With several columns each block stays in one, if that needs no more pages and the first page shows no less.
    """
    broken, most = _fill_columns(blocks, count, rows_per_page)
    kept, shown = _fill_columns(blocks, count, rows_per_page, keep_whole=True) if count > 1 else (broken, most)
    keeps_blocks = shown >= most and (len(kept) - 1) // count <= (len(broken) - 1) // count
    return (kept, shown) if keeps_blocks else (broken, most)


def _fill_columns(
    blocks: Sequence[list[LayoutUnit]], count: int, rows_per_page: Sequence[int], *, keep_whole: bool = False
) -> tuple[list[list[StyledLine]], int]:
    """Return columns in which blocks continue from one to the next, and the number of rows on the first page.

    With `keep_whole`, a block begins in a new column of the same page if it fits there undivided. A title never ends a
    column, and is repeated where its block continues on another page; beside it a blank line stands instead.
    """
    columns: list[list[StyledLine]] = [[]]
    shown = 0
    for units in blocks:
        title = units[0].lines if units and units[0].title_of_block >= 0 else []
        height = sum(len(unit.lines) for unit in units)
        over = len(columns[-1]) + height - rows_per_page[0 if len(columns) <= count else 1]
        beside = keep_whole and len(columns) % count > 0
        if beside and columns[-1] and over > 0 and height <= rows_per_page[0 if len(columns) < count else 1]:
            columns.append([])
        for at, unit in enumerate(units):
            rows = rows_per_page[0 if len(columns) <= count else 1]
            needed = len(unit.lines)
            if unit.title_of_block >= 0 and len(units) > 1 and rows > 1:
                needed += len(units[1].lines)
            if columns[-1] and len(columns[-1]) + needed > rows:
                rows = rows_per_page[0 if len(columns) < count else 1]
                top: list[StyledLine] = title if len(columns) % count == 0 else [[]] * len(title)
                columns.append([*top] if at and rows > len(title) + len(unit.lines) else [])
            columns[-1] += unit.lines
            shown += unit.title_of_block < 0 and len(columns) <= count
    return [column[: rows_per_page[0 if at < count else 1]] for at, column in enumerate(columns)], shown
