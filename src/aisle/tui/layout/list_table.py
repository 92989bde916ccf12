"""Rows of a list as a table with headings, or each on two lines; as many columns and rows as fit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from aisle.jobs.view import MARGIN_CELLS, MIN_DESK_COLUMNS, ListView, Row, raw
from aisle.terminal_text import width, wrap
from aisle.tui.layout.choices_and_key_hints import (
    excess_cells,
)
from aisle.tui.layout.detail_blocks_and_tables import (
    NUMBER_PATTERN,
    column_widths,
    natural_widths,
    number_columns,
    table_line,
    with_distinct_cells,
)
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import (
    WARNING,
    StyledLine,
    pad_line,
    progress_bar,
    role_argument,
    tone_of,
    with_argument,
)
from aisle.tui.message_text import MessageWriter, length_count

MIN_BAR_CELLS = 6
"""Minimum cells of a progress bar, for which columns are narrowed; it takes all cells that are left."""

MIN_NAME_CELLS = 24
"""Cells of the name column (or a third of the width) below which the last columns are dropped."""

MIN_HEADED_ROWS = 12
"""Rows from which a list has column heads, although they hide a row."""

NARROW_CELLS, MEDIUM_CELLS, WIDE_CELLS = 30, 60, 120
"""Widths in cells: below the first, a name may have its own line if no row is lost.

Below the second, it may if too little of it would remain. From the third on, columns stand widely apart.
"""

STATE_ID_PREFIX, TIME_ID_PREFIXES = "operation_state.", ("moment", "log.at_time")
"""Beginning of the ids of state messages, and of times; these are not cut, because a part of one means nothing."""

MIN_HOUR_CELLS = 50
"""Table width in cells below which times have no hour, if texts are cut."""

MIN_LEGIBLE_CELLS = 14
"""Cells of every other column, or its whole text, that must remain for times to keep their hour."""

DESK_CELLS = MIN_DESK_COLUMNS - MARGIN_CELLS
"""Width in cells of a list on the smallest desk."""

CHANGED_SIGN = "~"
"""Sign after the number of a row that changed a moment ago."""

MAX_USUAL_LENGTHS = 3
"""Usual maximum number of lengths of a cell."""

SORT_SIGNS, ASCII_SORT_SIGNS = "▲▼", "^v"
"""Signs of the column by which a list is sorted: ascending, descending."""

EMPTY_CELL = raw("")
"""Empty cell."""

COUNTED_ID = "locations.products"
"""Message id of numbers with a noun; its column is aligned right."""


class DrawnList(NamedTuple):
    """Drawn list and its visible rows."""

    lines: list[StyledLine]
    first: int
    shown_rows: int


def shows_two_line_rows(view: ListView, box: LayoutBox) -> bool:
    """Return True if each row has two lines, even if rows are hidden thereby."""
    return view.has_two_line_rows and box.cells < NARROW_CELLS


def draw_list(view: ListView, box: LayoutBox) -> DrawnList:
    if not view.rows:
        text = box.writer.fit(view.empty, lambda said: excess_cells(said, box.cells, box.rows))
        words = wrap(text, box.cells, box.rows, mark=box.writer.cut_mark)
        return DrawnList([[(line, "note")] for line in words], 0, 0)
    view = _drop_empty_columns(view)
    with_heads = box.rows >= 6 and (len(view.rows) < box.rows or box.rows >= MIN_HEADED_ROWS)
    space = max(0, box.rows - with_heads)
    half = box.rows // 2
    if box.cells < MEDIUM_CELLS and (len(view.rows) <= half or (shows_two_line_rows(view, box) and half)):
        first = _first_visible(view, half)
        rows = view.rows[first : first + half]
        lines = _draw_two_line_rows(view, rows, view.first + first, box)
        if lines:
            return DrawnList(lines, view.first + first, len(rows))
    first = _first_visible(view, space)
    rows = view.rows[first : first + space]
    lines = _draw_table(view, rows, view.first + first, box, with_heads)
    return DrawnList(lines, view.first + first, len(rows))


def _drop_empty_columns(view: ListView) -> ListView:
    """Return the list without columns that are empty in all rows."""
    columns = list(zip(*(row.cells for row in view.rows), strict=False))
    kept = [at for at, cells in enumerate(columns) if at == 0 or any(cell != EMPTY_CELL for cell in cells)]
    if len(kept) == len(columns):
        return view
    rows = tuple(row._replace(cells=tuple(row.cells[at] for at in kept)) for row in view.rows)
    sorts = tuple(view.sorts[at] for at in kept) if view.sorts else ()
    return view._replace(column_heads=tuple(view.column_heads[at] for at in kept), rows=rows, sorts=sorts)


def _first_visible(view: ListView, rows: int) -> int:
    """Return the index of the top row, so that the cursor is visible."""
    at = view.cursor - view.first
    if not 0 <= at < len(view.rows) or at < rows:
        return 0
    return at - rows + 1


def _draw_table(view: ListView, rows: Sequence[Row], first: int, box: LayoutBox, with_heads: bool) -> list[StyledLine]:
    """Return the rows as a table. A cursor that moves in the window changes two of its lines."""
    table = _table_without_cursor(view._replace(cursor=-1), tuple(rows), first, box, with_heads)
    lines = [*table.heads, *table.rows]
    at = view.cursor - first
    if 0 <= at < len(rows):
        lines[len(table.heads) + at] = _cursor_line(table.rows[at], table.gutter, box)
    return lines


class DrawnTable(NamedTuple):
    """Lines of a table without its cursor."""

    heads: list[StyledLine]
    rows: list[StyledLine]
    gutter: int
    """Cells before the names."""


@lru_cache(maxsize=2)
def _table_without_cursor(
    view: ListView, rows: tuple[Row, ...], first: int, box: LayoutBox, with_heads: bool
) -> DrawnTable:
    """Return the lines of a table. Cached, because most inputs only move the cursor."""
    gutter = _gutter_width(view, rows, first, box)
    sized = _size_table(
        view, rows, _table_cells(view, gutter, box), _column_gaps(box), box.writer, with_heads=with_heads
    )
    cells, heads, columns, tones, gap = sized.cells, sized.heads, sized.columns, sized.tones, sized.gap
    cells = with_distinct_cells(cells, columns, box.writer)
    counted = _columns_with_ids(view.rows, COUNTED_ID, any)
    right = [at in counted or is_right for at, is_right in enumerate(number_columns(cells, len(columns)))]
    used = gutter + sum(columns) + gap * (len(columns) - 1)
    share = min(24, box.cells - used - gap) if box.cells >= 60 else 0
    head_line = table_line(heads, columns, right, gap, gutter, ("head", "head"), box.writer, sized.head_roles)
    lines: list[StyledLine] = []
    for index, (row, texts, row_tones) in enumerate(zip(rows, cells, tones, strict=True), first):
        line = table_line(texts, columns, right, gap, gutter, ("cell", "cell-dim"), box.writer, row_tones)
        line = [*_row_lead(view, row, index, gutter), *line[1:]]
        has_bar = row.progress >= 0 and share >= MIN_BAR_CELLS
        bar = progress_bar(row.progress, share, box.writer) if has_bar else []
        lines.append(with_argument([*pad_line(line, used + gap), *bar] if has_bar else line, index - view.first))
    return DrawnTable([head_line] if heads else [], lines, gutter)


def _column_gaps(box: LayoutBox) -> range:
    """Return the cells between columns to try: on a desk fewer before a text is shortened."""
    widest = 2 if box.cells < MEDIUM_CELLS else 3 if box.cells < WIDE_CELLS else 4
    return range(widest, 1 if box.cells >= DESK_CELLS else widest - 1, -1)


def _table_cells(view: ListView, gutter: int, box: LayoutBox) -> int:
    """Return the cells for the columns of a table: those beside the row numbers and the least progress bar."""
    has_bars = view.has_progress_bars and box.cells >= MEDIUM_CELLS
    return box.cells - gutter - (MIN_BAR_CELLS + _column_gaps(box)[0] if has_bars else 0)


def shortened(view: ListView, box: LayoutBox) -> int:
    """Return how much shorter than its longest form the table has to be: 0 for not at all."""
    if not view.rows:
        return 0
    view = _drop_empty_columns(view)
    space = _table_cells(view, _gutter_width(view, view.rows, view.first, box), box)
    return _size_table(view, view.rows, space, _column_gaps(box), box.writer, with_heads=True).shortened


class SizedTable(NamedTuple):
    """Texts of a table, and the widths of as many of its columns as fit."""

    cells: list[list[str]]
    heads: list[str]
    columns: list[int]
    tones: list[list[str]]
    """Tone of each cell, empty for none."""
    head_roles: list[str]
    """Role of each heading."""
    gap: int
    """Cells between two columns."""
    shortened: int = 0
    """Number of longer forms of its texts for which there is no room."""

    @property
    def is_whole(self) -> bool:
        """True if all columns are there with their whole text."""
        wanted = natural_widths(self.cells)
        return len(self.columns) == len(wanted) and all(map(int.__ge__, self.columns, wanted))

    @property
    def is_legible(self) -> bool:
        """True if each of these columns has its whole text, or enough of it."""
        return all(
            column >= min(want, MIN_LEGIBLE_CELLS)
            for column, want in zip(self.columns, natural_widths(self.cells), strict=False)
        )


def _size_table(
    view: ListView,
    rows: Sequence[Row],
    table_cells: int,
    gaps: Sequence[int],
    writer: MessageWriter,
    *,
    with_heads: bool,
    name_cells: int = MIN_NAME_CELLS,
) -> SizedTable:
    """Return the table in the longest texts that fit uncut between one of these gaps, the first if possible.

    Otherwise names stay long, then all are shortest.

    Times keep their hour if names remain legible. Names have `name_cells` cells before the last columns are dropped.
    """

    def sized(level: int, dates: int, names: int, gap: int) -> SizedTable:
        cells = [
            [writer.write(cell, dates if cell.id.startswith(TIME_ID_PREFIXES) else level) for cell in row.cells]
            for row in rows
        ]
        if names > level:
            cells = [[writer.write(row.cells[0], names), *texts[1:]] for row, texts in zip(rows, cells, strict=True)]
        heads = _heads(view, writer, level, table_cells) if with_heads else []
        kept = _distinct_columns(cells, table_cells, gap)
        cells, tones = _pick_columns(cells, kept), _pick_columns(all_tones, kept)
        heads = [heads[at] for at in kept] if heads else []
        lines = [*cells, heads] if heads else cells
        words, moments = _columns_with_ids(view.rows, STATE_ID_PREFIX), _columns_with_ids(view.rows, TIME_ID_PREFIXES)
        columns = column_widths(lines, table_cells, gap, words, moments, name_cells=min(name_cells, table_cells // 3))
        shorter = dict(zip(_heads(view, writer, level, table_cells), _heads(view, writer, 0, table_cells), strict=True))
        heads = [head if width(head) <= column else shorter[head] for head, column in zip(heads, columns, strict=False)]
        if heads and table_cells >= MEDIUM_CELLS:
            longest = _pick_columns([_heads(view, writer, 9, table_cells)], kept)[0]
            heads, columns = _lengthen_heads(heads, longest, columns, table_cells - gap * (len(columns) - 1))
        return SizedTable(cells, heads, columns, tones, [_head_role(view, at) for at in kept], gap)

    all_tones = [[tone_of(cell) for cell in row.cells] for row in rows]
    dates = 9 if table_cells >= MIN_HOUR_CELLS else 0
    tried = 0
    for tried, (level, names) in enumerate(_lengths_to_try(rows, writer)):
        for gap in gaps:
            if (found := sized(level, level or dates, names, gap)).is_whole:
                return found._replace(shortened=tried)
    short = sized(0, 0, 0, gaps[-1])
    long = sized(0, dates, 0, gaps[-1]) if dates else short
    best = long if len(long.columns) == len(short.columns) and long.is_legible else short
    return best._replace(shortened=tried + 1)


def _lengthen_heads(
    heads: Sequence[str], longest: Sequence[str], columns: Sequence[int], cells: int
) -> tuple[list[str], list[int]]:
    """Return the longest headings for which the table has room, and the columns widened for them."""
    free, shown, widened = cells - sum(columns), list(heads), list(columns)
    for at, (head, column) in enumerate(zip(longest, columns, strict=False)):
        more = max(0, width(head) - column)
        if more <= free:
            free, shown[at], widened[at] = free - more, head, column + more
    return shown, widened


def _heads(view: ListView, writer: MessageWriter, level: int, table_cells: int) -> list[str]:
    """Return the headings; on a wide screen a sign says by which column the list is sorted, in which direction."""
    texts = [writer.write(head, level) for head in view.column_heads]
    sorting = view.sorting
    if sorting is None or not sorting.sort or sorting.sort not in view.sorts or table_cells < MEDIUM_CELLS:
        return texts
    at = view.sorts.index(sorting.sort)
    signs = ASCII_SORT_SIGNS if writer.is_ascii else SORT_SIGNS
    texts[at] = f"{texts[at]} {signs[sorting.is_descending]}"
    return texts


def _head_role(view: ListView, at: int) -> str:
    """Return the role of a heading, with the sort order that a click on it chooses."""
    if view.sorting is None or not view.sorts[at]:
        return "head"
    return f"{'head-on' if view.sorts[at] == view.sorting.sort else 'head'}:{view.sorts[at]}"


def _lengths_to_try(rows: Sequence[Row], writer: MessageWriter) -> Iterator[tuple[int, int]]:
    """Yield the lengths to try, of cells and of names. The longer lengths are tried only if a cell has that many."""
    yield 9, 9
    if any(length_count(cell, writer.language) > MAX_USUAL_LENGTHS for row in rows for cell in row.cells):
        yield 2, 2
    yield 1, 1
    if rows[0].cells[0].id != EMPTY_CELL.id:
        yield 0, 9
        yield 0, 1


def _draw_two_line_rows(view: ListView, rows: Sequence[Row], first: int, box: LayoutBox) -> list[StyledLine]:
    """Return rows of two lines: the name, and below it the other cells. Return nothing if a table is as good.

    They are used if a table would cut names while rows are free, or would drop columns of a two-line list.
    """
    gutter = _gutter_width(view, rows, first, box)
    space = box.cells - gutter
    for level in (9, 1, 0) if box.cells >= NARROW_CELLS else (0,):
        cells = [[box.writer.write(cell, level) for cell in row.cells] for row in rows]
        if sum(natural_widths([row[1:] for row in cells])) + 2 * (len(cells[0]) - 2) <= space:
            break
    columns = column_widths(cells, space, 2, _columns_with_ids(view.rows, STATE_ID_PREFIX))
    least = space
    if box.cells >= NARROW_CELLS:
        least, columns = (
            MIN_LEGIBLE_CELLS,
            _size_table(view, rows, space, (2,), box.writer, with_heads=False, name_cells=0).columns,
        )
    is_named = columns[0] >= min(least, natural_widths(cells)[0])
    if len(cells[0]) < 2 or (is_named and (len(columns) == len(cells[0]) or not shows_two_line_rows(view, box))):
        return []
    heads = (
        [box.writer.write(head, 0) for head in view.column_heads]
        if len(rows) * 2 < box.rows and not view.has_two_line_rows
        else []
    )
    rest = [row[1:] for row in ([*cells, heads] if heads else cells)]
    columns = natural_widths(rest)
    while len(columns) > 1 and sum(columns) + 2 * (len(columns) - 1) > space:
        columns.pop()
    columns = [min(column, space) for column in columns]
    right = number_columns(cells, len(columns), first=1)
    lines = [table_line(heads[1:], columns, right, 2, gutter, ("head", "head"), box.writer)] if heads else []
    for index, texts in enumerate(with_distinct_cells(cells, [space, *columns], box.writer), first):
        tones = [tone_of(cell) for cell in rows[index - first].cells]
        name: StyledLine = [*_row_lead(view, rows[index - first], index, gutter), (texts[0], tones[0] or "cell")]
        name = with_argument(name, index - view.first)
        lines.append(_cursor_line(name, gutter, box) if index == view.cursor else name)
        below = table_line(texts[1:], columns, right, 2, gutter, ("cell-dim", "cell-dim"), box.writer, tones[1:])
        lines.append(with_argument(below, index - view.first))
    return lines


MARK_SIGN = "* "
"""Sign before the name of a marked row; if one row is marked, all names are indented."""


def _gutter_width(view: ListView, rows: Sequence[Row], first: int, box: LayoutBox) -> int:
    """Return the cells before the names: for numbers, cursor and marks."""
    numbered = min(view.numbered_rows, first - view.first + len(rows))
    numbers = len(str(numbered)) if view.numbered_rows or box.cells >= NARROW_CELLS else 0
    return 1 + numbers + len(MARK_SIGN) * any(row.is_marked for row in view.rows)


def _row_lead(view: ListView, row: Row, index: int, gutter: int) -> StyledLine:
    """Return the number and mark before the name of a row."""
    number = str(index - view.first + 1) if index - view.first < view.numbered_rows else ""
    sign = (CHANGED_SIGN, WARNING) if row.is_changed else (" ", "")
    if not any(each.is_marked for each in view.rows):
        return [(number.rjust(gutter - 1), "row-key"), sign] if number or row.is_changed else [(" " * gutter, "")]
    return [
        (number.rjust(gutter - 1 - len(MARK_SIGN)), "row-key"),
        sign,
        (MARK_SIGN if row.is_marked else "  ", "cell"),
    ]


def _cursor_line(line: StyledLine, gutter: int, box: LayoutBox) -> StyledLine:
    """Return the row with the cursor: a sign in front of its text, and the cursor's colour over the whole width."""
    text = "".join(text for text, _ in line)
    sign = ">" if box.writer.is_ascii else "›"
    at = gutter - 1 if text[:1].strip() or text[: gutter - 1].strip() else 0
    row = next((role_argument(role) for _, role in line if role), "")
    return pad_line([(text[:at] + sign + text[at + 1 :], f"cursor:{row}")], box.cells, f"cursor:{row}")


def _distinct_columns(cells: list[list[str]], width: int, gap: int) -> list[int]:
    """Return the indices of the columns without those that repeat the first one, if that would be cut."""
    wanted = natural_widths(cells)
    if not wanted or sum(wanted) + gap * (len(wanted) - 1) <= width:
        return list(range(len(cells[0]) if cells else 0))
    return [at for at in range(len(wanted)) if at == 0 or not all(_repeats(row[at], row[0]) for row in cells)]


def _pick_columns(rows: list[list[str]], columns: list[int]) -> list[list[str]]:
    return [[row[at] for at in columns] for row in rows]


def _repeats(text: str, name: str) -> bool:
    """Return True if a name contains the words of this text; a number in a name means something else."""
    return not text or (not NUMBER_PATTERN.fullmatch(text) and f" {text} ".casefold() in f" {name} ".casefold())


def _columns_with_ids(
    rows: Sequence[Row], ids: str | tuple[str, ...], test: Callable[[Iterable[bool]], bool] = all
) -> frozenset[int]:
    """Return the columns that consist of messages with these ids."""
    columns = zip(*(row.cells for row in rows), strict=False)
    return frozenset(at for at, cells in enumerate(columns) if test(cell.id.startswith(ids) for cell in cells))
