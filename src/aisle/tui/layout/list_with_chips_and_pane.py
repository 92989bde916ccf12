"""Layout of lists: filters above the table, the pane beside or below it, and the commands."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from aisle.jobs.view import (
    MARGIN_CELLS,
    MIN_DESK_COLUMNS,
    MIN_PANE_COLUMNS,
    MIN_SIDE_COMMAND_COLUMNS,
    PAGE_HINTS,
    PANE_ROWS,
    Chip,
    DetailView,
    ListView,
    Msg,
    msg,
)
from aisle.tui.layout import detail_view
from aisle.tui.layout.choices_and_key_hints import UNLIMITED_ROWS, choice_flow, choice_items, command_flow, hint_lines
from aisle.tui.layout.list_table import (
    EMPTY_CELL,
    MEDIUM_CELLS,
    MIN_HEADED_ROWS,
    draw_list,
    shortened,
    shows_two_line_rows,
)
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import (
    BOARD,
    LIST,
    BodyParts,
    StyledLine,
    line_width,
    lines_after_rule,
)
from aisle.tui.message_text import MAX_LENGTH, MessageWriter

MIN_SIDE_COMMAND_CELLS = MIN_SIDE_COMMAND_COLUMNS - MARGIN_CELLS
"""Width from which the commands are beside the list."""

SIDE_COMMAND_WIDTH = 30
"""Width of the column with the commands."""

MIN_PANE_CELLS, NARROW_PANE_CELLS, MAX_PANE_CELLS = MIN_PANE_COLUMNS - MARGIN_CELLS, 55, 72
"""Width from which the details of a row stand beside the list; their width if the list needs more, and the greatest."""

MIN_CHIP_CELLS, MIN_CHIP_ROWS = MIN_DESK_COLUMNS - MARGIN_CELLS, 20
"""Size of the body from which filters stand above the list."""

SMALL_ROWS = 10
"""Rows below which choices and commands share lines."""

MIN_LIST_ROWS = 4
"""Rows of a list that are more important than separate lines for choices and commands."""

EMPTY_TEXT_ROWS = 2
"""Rows for the text of an empty list."""


class ListPage(NamedTuple):
    """Parts of the page of a list, and its visible rows."""

    parts: BodyParts
    first: int
    shown_rows: int


def list_page(view: ListView, box: LayoutBox) -> ListPage:
    """Return the list, its choices and hints in at most `box.rows` lines; a hint that repeats a choice is left out."""
    page = _list_page(view, box)
    is_board = box.cells >= MIN_CHIP_CELLS
    return page._replace(parts=page.parts._replace(kind=BOARD if is_board else LIST))


def _list_page(view: ListView, box: LayoutBox, *, is_beside_pane: bool = False) -> ListPage:
    if view.chips and box.cells >= MIN_CHIP_CELLS and box.rows >= MIN_CHIP_ROWS:
        chips = _chip_line(view.chips, box)
        page = _list_page(view._replace(chips=()), box._replace(rows=box.rows - 2))
        sums: StyledLine = [(box.writer.fit_line(view.sums, box.cells), "value")] if view.sums else []
        return page._replace(parts=page.parts._replace(top=[chips, sums]))
    if view.pane is not None and box.cells >= MIN_PANE_CELLS:
        return _with_pane(view._replace(pane=None), view.pane, box)
    if view.pane is not None and box.cells >= MIN_CHIP_CELLS and box.rows >= MIN_HEADED_ROWS + PANE_ROWS:
        return _with_pane_below(view._replace(pane=None), view.pane, box)
    shown_texts = {box.writer.write(choice) for choice in view.choices}
    if _fits_whole(view, box):
        shown_texts |= {box.writer.write(hint.text) for hint in PAGE_HINTS}
    view = view._replace(
        key_hints=tuple(hint for hint in view.key_hints if box.writer.write(hint.text) not in shown_texts)
    )
    if _has_side_commands(view, box) and not is_beside_pane:
        return _with_side_commands(view, box)
    footer = _footer(view, box)
    listed = draw_list(view, box._replace(rows=box.rows - len(footer)))
    filler: list[StyledLine] = [[] for _ in range(box.rows - len(footer) - len(listed.lines))]
    return ListPage(BodyParts(LIST, [*listed.lines, *filler], footer), listed.first, listed.shown_rows)


_ANY_PANE = DetailView("", EMPTY_CELL, EMPTY_CELL)


def shown_row_count(view: ListView, box: LayoutBox) -> int:
    """Return how many rows are visible."""
    if box.cells < MEDIUM_CELLS:
        return _list_page(view, box).shown_rows
    return _shown_row_count(view._replace(cursor=-1, pane=view.pane and _ANY_PANE), box)


@lru_cache(maxsize=2)
def _shown_row_count(view: ListView, box: LayoutBox) -> int:
    """Return how many rows are visible on a screen on which neither cursor nor pane change that. Cached."""
    return _list_page(view, box).shown_rows


def _chip_line(chips: Sequence[Chip], box: LayoutBox) -> StyledLine:
    """Return the filters side by side, each with the number of its rows. Texts are short if need be, then the last
    filters are left out."""
    for level in (MAX_LENGTH, 0):
        line = [span for chip in chips for span in _chip_spans(chip, level, box.writer)]
        if line_width(line) <= box.cells:
            break
    while line_width(line) > box.cells:
        line = line[:-2]
    return line


def _chip_spans(chip: Chip, level: int, writer: MessageWriter) -> StyledLine:
    role = "chip-on" if chip.is_active else "chip-empty" if chip.total == 0 else "chip"
    count = "" if chip.total is None else f" {writer.format_number(Decimal(chip.total))}"
    return [(f" {writer.write(chip.text, level)}{count} ", role), (" ", "")]


def _with_pane(view: ListView, pane: DetailView, box: LayoutBox) -> ListPage:
    """Return the list with the details of a row beside it."""
    pane_cells = _pane_cells(view._replace(cursor=-1, chips=(), key_hints=()), box)
    left = box.cells - pane_cells - 3
    page = _list_page(view, box._replace(cells=left - 1), is_beside_pane=True)
    side = lines_after_rule(_pane_lines(pane, box._replace(cells=pane_cells)), is_ascii=box.writer.is_ascii)
    return page._replace(parts=page.parts._replace(side=side, main_cells=left))


@lru_cache(maxsize=2)
def _pane_cells(view: ListView, box: LayoutBox) -> int:
    """Return the width of the pane: the narrow one if the list is cut less beside it. Cached, as the lines are."""
    widest = min(MAX_PANE_CELLS, box.cells * 2 // 5)
    widths = (widest, min(widest, NARROW_PANE_CELLS))
    return min(widths, key=lambda cells: shortened(view, box._replace(cells=box.cells - cells - 4)))


def _with_pane_below(view: ListView, pane: DetailView, box: LayoutBox) -> ListPage:
    """Return the list with the details of a row between its rows and its commands."""
    page = _list_page(view, box._replace(rows=box.rows - PANE_ROWS))
    rule: StyledLine = [(("-" if box.writer.is_ascii else "─") * box.cells, "rule")]
    details = _pane_lines(pane, box._replace(rows=PANE_ROWS - 1))
    return page._replace(parts=page.parts._replace(below=[rule, *details]))


@lru_cache(maxsize=2)
def _pane_lines(pane: DetailView, box: LayoutBox) -> list[StyledLine]:
    """Return the details of a row in all rows of the box. Cached, because not every frame changes them."""
    lines = detail_view.detail_page(pane, box)[0].lines
    missing: list[StyledLine] = [[] for _ in range(box.rows - len(lines))]
    return [*lines, *missing]


def _row_lines(view: ListView, box: LayoutBox) -> int:
    """Return the number of lines of all rows."""
    return len(view.rows) * (2 if shows_two_line_rows(view, box) else 1)


def _fits_whole(view: ListView, box: LayoutBox) -> bool:
    """Return True if all of a list with two-line rows is visible, so that paging commands are useless."""
    return (
        view.has_two_line_rows and view.total == len(view.rows) and _row_lines(view, box) <= box.rows - EMPTY_TEXT_ROWS
    )


def _has_side_commands(view: ListView, box: LayoutBox) -> bool:
    """Return True if the commands are beside the list; a list with progress bars needs the width."""
    return box.cells >= MIN_SIDE_COMMAND_CELLS and not view.has_progress_bars


def min_list_rows(view: ListView, box: LayoutBox) -> int:
    """Return the number of rows below which a row or a command would be hidden."""
    if _has_side_commands(view, box):
        return len(view.rows)
    return _row_lines(view, box) + len(_command_lines(view, box))


def _command_lines(view: ListView, box: LayoutBox, rows: int = UNLIMITED_ROWS) -> list[StyledLine]:
    return command_flow(
        view.choices, view.key_hints, box.cells, box.writer, rows, view.numbered_rows, view.choice_letters
    )


def _footer(view: ListView, box: LayoutBox) -> list[StyledLine]:
    """Return choices, and below them commands; side by side if there are few rows. A blank line separates them."""
    choices = choice_flow(view.choices, box.cells, box.writer, view.numbered_rows, view.choice_letters)
    needed = _row_lines(view, box) if _row_lines(view, box) < box.rows else len(view.rows)
    spare = box.rows - len(choices) - needed - 2
    footer = [
        *choices,
        *hint_lines(view.key_hints, box.cells, box.writer, 1 if box.rows < SMALL_ROWS else max(2, spare)),
    ]
    if box.rows < SMALL_ROWS or len(footer) > box.rows - MIN_LIST_ROWS:
        half = box.rows // 2
        left = box.rows - max(needed, EMPTY_TEXT_ROWS)
        most = max(1, max(half, left) if view.choices else min(half, box.rows - needed))
        footer = _command_lines(view, box, most)
    elif len(footer) + needed > box.rows:  # rows of the list come before separate lines
        footer = min(footer, _command_lines(view, box), key=len)
        if len(footer) + needed == box.rows + 1:  # the last row is on no other page
            tight = _command_lines(view, box, len(footer) - 1)
            footer = min(footer, tight, key=len)
    footer = footer[: max(0, box.rows - 1)]
    wanted = _row_lines(view, box) + (1 if view.rows else 0)
    return [[], *footer] if footer and box.rows >= SMALL_ROWS and wanted < box.rows - len(footer) else footer


def _with_side_commands(view: ListView, box: LayoutBox) -> ListPage:
    left = box.cells - SIDE_COMMAND_WIDTH - 3
    listed = draw_list(view, box._replace(cells=left - 1))
    title: StyledLine = [(box.writer.fit_line(msg("choices.title"), SIDE_COMMAND_WIDTH), "head")]
    hints = [line for hint in view.key_hints for line in hint_lines((hint,), SIDE_COMMAND_WIDTH, box.writer)]
    choices = choice_items(
        view.choices, SIDE_COMMAND_WIDTH, box.writer, first_number=view.numbered_rows, letters=view.choice_letters
    )
    aside = [*([title, *choices, []] if choices else []), *hints][: box.rows]
    missing: list[StyledLine] = [[] for _ in range(box.rows - len(aside))]
    filler: list[StyledLine] = [[] for _ in range(box.rows - len(listed.lines))]
    side = lines_after_rule([*aside, *missing], is_ascii=box.writer.is_ascii)
    parts = BodyParts(LIST, [*listed.lines, *filler], side=side, main_cells=left)
    return ListPage(parts, listed.first, listed.shown_rows)


def range_message(view: ListView, listed: ListPage) -> Msg | None:
    """Return which rows are visible; None if all are, and there are no more."""
    if listed.shown_rows == 0 or (listed.shown_rows >= view.total and not view.may_have_more):
        return None
    range_ = "list.range_more" if view.may_have_more else "list.range"
    return msg(range_, first=listed.first + 1, last=listed.first + listed.shown_rows, total=view.total)
