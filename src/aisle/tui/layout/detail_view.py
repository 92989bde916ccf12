"""Layout of detail pages: head (name and key values), location map, blocks of rows, choices, commands, pane."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.view import (
    ASK,
    GOOD,
    INFO,
    PAGING_TEXT_IDS,
    WRONG,
    Block,
    DetailView,
    KeyHint,
    Line,
    MapLocation,
    Msg,
    SidePane,
    msg,
    numbered_rows,
)
from aisle.text_cells import fit, fit_middle, width, wrap
from aisle.tui.layout.chart_view import CHART_ROWS, axis_chart_lines
from aisle.tui.layout.choice_lines import (
    VerdictOverlap,
    choice_flow,
    choice_items,
    command_flow,
    excess_cells,
    flow_items,
    hint_lines,
)
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines import StyledLine, clip_line, left_and_right, line_width, side_by_side
from aisle.tui.layout.table import NUMBER_PATTERN, column_widths, table_line, with_distinct_names
from aisle.tui.message_text import MAX_LENGTH, MessageWriter

FILL_SIGNS = "▁▂▃▄▅▆▇█"
ASCII_FILL_SIGNS = ".:-=+*#@"
EMPTY_SIGN, ASCII_EMPTY_SIGN = "·", "_"
"""Signs of an empty location; the signs above show how full others are."""


def location_map_lines(locations: Sequence[MapLocation], box: LayoutBox, most: int) -> list[StyledLine]:
    """Return how full the locations around are: with their names if they fit, otherwise a window of signs."""
    groups: dict[str, list[MapLocation]] = {}
    for mark in locations:
        groups.setdefault(_bay_name(mark.location, box.writer), []).append(mark)
    items: list[StyledLine] = [
        [(f"{name} ", "mark"), *(_location_sign(mark, box.writer) for mark in group)] for name, group in groups.items()
    ]
    lines = flow_items(items, box.cells, 2)
    if len(lines) <= most and all(line_width(line) <= box.cells for line in lines):
        return lines
    at = next((index for index, mark in enumerate(locations) if mark.is_current), 0)
    space = box.cells - 4
    first = max(0, min(at - space // 2, len(locations) - space))
    seen = locations[first : first + space]
    cut = (box.writer.cut_mark, "mark")
    line: StyledLine = [_location_sign(mark, box.writer) for mark in seen]
    return [[*([cut] if first else []), *line, *([cut] if first + space < len(locations) else [])]]


def _bay_name(location: str, writer: MessageWriter) -> str:
    """Return the code without its last part, which locations of one bay share."""
    name = writer.clean_text(location)
    cut = max(name.rfind(sign) for sign in "-./ _")
    return name[:cut] if cut > 0 else name


def _location_sign(location: MapLocation, writer: MessageWriter) -> tuple[str, str]:
    levels, empty = (ASCII_FILL_SIGNS, ASCII_EMPTY_SIGN) if writer.is_ascii else (FILL_SIGNS, EMPTY_SIGN)
    share = min(Decimal(1), location.fill)
    sign = levels[min(len(levels) - 1, int(share * len(levels)))] if share > 0 else empty
    return (f"[{sign}]", "mark-here") if location.is_current else (sign, "mark")


MIN_COLUMN_CELLS = 36
"""Minimum cells of a column."""

MIN_CELLS_WITH_PANE, MIN_ROWS_WITH_PANE = 98, 20
"""Size of the body from which a page shows its pane."""

MAX_PANE_CELLS = 78

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


NO_OVERLAP = VerdictOverlap()


def detail_lines(
    view: DetailView, box: LayoutBox, overlap: VerdictOverlap = NO_OVERLAP
) -> tuple[list[StyledLine], Msg | None]:
    """Return the page in exactly the rows that are not covered, and its number; None if there is one page.

    The beginning of a page does not depend on a verdict: either all is on one page, or each page keeps its rows.
    """
    tops = _page_heads(view, box)
    blank: list[StyledLine] = [[]] if box.rows >= SMALL_ROWS else []
    space = box.rows - len(_footer(view, view.key_hints, box)) - (len(blank) if view.choices else 0)
    heads = [[*top, *blank] if top else [] for top in tops]
    kept = int(_shows_stock(view))
    pages = _layout_pages(view, box, _rows_per_page(space, heads, overlap.current, kept))
    if len(pages) > 1:
        pages = _layout_pages(view, box, _rows_per_page(space, heads, max(overlap), kept))
    at = view.page % len(pages) if pages else 0
    hints = [
        hint for hint in view.key_hints if len(pages) > 1 or hint.is_always_shown or hint.text.id not in PAGING_TEXT_IDS
    ]
    page = pages[at] if pages else []
    spare = space + len(_footer(view, view.key_hints, box)) - max(overlap) - len(heads[0]) - len(page)
    below = [*(blank if view.choices else []), *_footer(view, hints, box, spare if len(pages) < 2 else 0)]
    rows = max(0, box.rows - overlap.current)
    top = _shrink_head(heads[min(at, 1)], max(0, rows - len(page) - len(below)), view, box)
    if len(pages) < 2:
        top = _with_hidden_lines(top, rows - len(top) - len(page) - len(below), view, box)
    above = [*_expand_lines(top, rows - len(top) - len(page) - len(below), view, box), *page]
    filler: list[StyledLine] = [[] for _ in range(rows - len(above) - len(below))]
    page_message = msg("frame.page", page=at + 1, pages=len(pages)) if len(pages) > 1 else None
    return [*above, *filler, *below][:rows], page_message


def _shows_stock(view: DetailView) -> bool:
    """Return True if the view shows a product's quantity; its lists are shortened before that."""
    return {"product", "quantity"} <= {line.role for line in view.lines}


def _rows_per_page(page_rows: int, heads: Sequence[list[StyledLine]], covered_rows: int, kept_rows: int) -> list[int]:
    """Return the lines for the blocks on the first page and on later ones; at least one if there are any.

    `kept_rows` lines of the first page's head are never covered.
    """
    left = [max(0, page_rows - len(head)) for head in heads]
    free = [len(heads[0]) - kept_rows, *map(len, heads[1:])]
    return [max(min(1, rows), rows - max(0, covered_rows - head)) for rows, head in zip(left, free, strict=True)]


def _with_hidden_lines(head: list[StyledLine], spare: int, view: DetailView, box: LayoutBox) -> list[StyledLine]:
    """Return the head with as many of its usually hidden lines as fit into `spare` lines."""
    lines, most = _head_lines(view, box)
    return [*head[:most], *lines[most : most + max(0, spare)], *head[most:]]


def _expand_lines(head: list[StyledLine], spare: int, view: DetailView, box: LayoutBox) -> list[StyledLine]:
    """Return the head on up to `spare` more lines: for cut lines, then for shortened ones, but not for figures."""
    lines = list(head)
    wrapped = [(head_line, [("".join(_wrap_line(head_line, box, 1)), head_line.role)]) for head_line in view.lines]
    wrapped.sort(key=lambda each: box.writer.cut_mark not in each[1][0][0])
    for head_line, line in wrapped:
        cut = box.writer.cut_mark in line[0][0]
        whole = (
            _wrap_line(head_line, box, 2) if spare and line in lines and (cut or head_line.role != "quantity") else []
        )
        if len(whole) > 1:
            at = lines.index(line)
            lines[at : at + 1] = [[(part, head_line.role)] for part in whole]
            spare -= 1
    return lines


def _wrap_line(line: Line, box: LayoutBox, rows: int) -> list[str]:
    """Return a line of the head, wrapped to at most `rows` lines."""
    over = (lambda said: excess_cells(said, box.cells, rows)) if rows > 1 else (lambda said: width(said) - box.cells)
    return wrap(
        box.writer.fit(line.text, over), box.cells, rows, mark=box.writer.cut_mark, middle=line.role == "product"
    )


def _head_lines(view: DetailView, box: LayoutBox) -> tuple[list[StyledLine], int]:
    """Return the lines of the head, and how many of them a page has that is otherwise full."""
    lines: list[StyledLine] = []
    head_lines = view.lines
    if tight := box.rows < 8 and _shows_stock(view):
        texts = {line.role: line.text for line in reversed(view.lines)}
        lines.append(_product_and_quantity(texts["product"], texts["quantity"], box))
        head_lines = tuple(line for line in view.lines if line.role not in ("product", "quantity"))
    rows_each = 1 if box.rows < 12 else 2
    for line in head_lines:
        lines += [[(part, line.role)] for part in _wrap_line(line, box, rows_each)]
    return lines, 1 if tight else max(1, box.rows // 3)


def _page_heads(view: DetailView, box: LayoutBox) -> tuple[list[StyledLine], list[StyledLine]]:
    """Return head and map for the first page, and for later ones."""
    lines, most = _head_lines(view, box)
    lines = lines[:most]
    short = lines[:1] if box.rows >= 5 else []
    if view.map_locations and box.rows >= 9:
        lines += location_map_lines(view.map_locations, box, 1 if box.rows < 16 else max(1, box.rows // 4))
    return lines, short if box.rows < SMALL_ROWS else lines


def _product_and_quantity(product: Msg, quantity: Msg, box: LayoutBox) -> StyledLine:
    """Return product and quantity on one line."""
    quantity_text = box.writer.fit_line(quantity, box.cells // 2)
    space = max(1, box.cells - width(quantity_text) - 2)
    name = box.writer.fit(product, lambda text: width(text) - space)
    return left_and_right(
        [(fit_middle(name, space, mark=box.writer.cut_mark), "product")], [(quantity_text, "quantity")], box.cells
    )


def _shrink_head(head: list[StyledLine], rows: int, view: DetailView, box: LayoutBox) -> list[StyledLine]:
    """Return the head in `rows` lines. The quantity is dropped last; before that it moves beside the name."""
    kept = list(head)
    for role in ("", "mark-here", "mark", "note", "product"):
        same = [line for line in kept if (line[0][1] if line else "") == role]
        for line in reversed(same[role == "product" :]):
            if len(kept) > rows:
                kept = [other for other in kept if other is not line]
    texts = {line.role: line.text for line in reversed(view.lines)}
    shown = {line[0][1] for line in kept if line}
    if rows == 1 < len(kept) and {"product", "quantity"} <= shown:
        return [_product_and_quantity(texts["product"], texts["quantity"], box)]
    names = [[line for line in lines if line and line[0][1] == "product"] for lines in (kept, head)]
    if names[0] and len(names[0]) < len(names[1]):
        name = box.writer.fit(texts["product"], lambda text: width(text) - box.cells)
        name = fit_middle(name, box.cells, mark=box.writer.cut_mark)
        kept = [[(name, "product")] if line is names[0][0] else line for line in kept]
    return kept[:rows]


def _footer(view: DetailView, key_hints: Sequence[KeyHint], box: LayoutBox, spare: int = 0) -> list[StyledLine]:
    """Return choices, below each other if they fit, and commands; both together if there are few rows.

    Commands keep their texts if there are `spare` lines.
    """
    after = numbered_rows(view)
    choices = choice_items(view.choices, box.cells, box.writer, first_number=after, letters=view.choice_letters)
    if len(choices) > box.rows // 6:
        choices = choice_flow(view.choices, box.cells, box.writer, after, view.choice_letters)
    hint_rows = 2 if box.rows >= 9 else 1
    hint_rows = max(hint_rows, min(spare, box.rows // 2) - len(choices))
    footer = [*choices, *hint_lines(key_hints, box.cells, box.writer, hint_rows)[:hint_rows]]
    if len(footer) > box.rows // 2:
        footer = command_flow(view.choices, key_hints, box.cells, box.writer, box.rows // 2, after, view.choice_letters)
    return footer[: max(0, box.rows - 1)]


# Blocks, columns and pages


def _layout_pages(view: DetailView, box: LayoutBox, rows_per_page: Sequence[int]) -> list[list[StyledLine]]:
    """Return the blocks on as many pages as they need. `rows_per_page`: lines of the first page and of later ones."""
    if not view.blocks or max(rows_per_page) <= 0:
        return []
    if min(rows_per_page) <= 0:  # the head takes all of the first page only
        return [[], *_layout_pages(view, box, [max(rows_per_page)] * 2)]
    if wide := _full_width_lines(view.blocks, box, min(rows_per_page)):
        rows = [rows_per_page[0] - len(wide), *rows_per_page[1:]]
        beside = _layout_pages(view._replace(blocks=view.blocks[1:]), box, rows) or [[]]
        return [[*wide, *beside[0]], *beside[1:]]
    most = max(1, min(MAX_COLUMNS, len(view.blocks), (box.cells + 3) // (MIN_COLUMN_CELLS + 3)))
    for count in range(1, most + 1):
        cells = (box.cells - 3 * (count - 1)) // count
        blocks = [
            _block_units(_without_title(block), index, cells, box.writer)[1:]
            if min(rows_per_page) < MIN_TITLED_LINES or (block.is_compact and box.rows < SMALL_ROWS)
            else _block_units(block, index, cells, box.writer)
            for index, block in enumerate(view.blocks)
        ]
        columns = _whole_columns(blocks, count, rows_per_page[0]) if cells <= MAX_COLUMN_CELLS or count == most else []
        if columns:
            break
    columns = columns or _broken_columns(blocks, count, rows_per_page)
    pages = []
    for first in range(0, len(columns), count):
        page = columns[first]
        for at, column in enumerate(columns[first + 1 : first + count], 1):
            page = side_by_side(page, column, at * (cells + 3) - 3, [("   ", "")])
        pages.append([clip_line(line, box.cells) for line in page])
    return pages


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
            texts = with_distinct_names(
                texts if block.is_compact else _two_line_texts(block, cells - 2, writer), cells - gutter, writer
            )
            return [_two_line_row(row, number, block, cells, writer) for number, row in enumerate(texts, 1)]
    columns = column_widths(texts, cells - gutter, 2) if texts else []
    texts = with_distinct_names(texts, columns[0], writer) if columns else texts
    right = [
        at > 0 and all(not row[at] or NUMBER_PATTERN.fullmatch(row[at]) for row in texts) for at in range(len(columns))
    ]
    rows: list[list[StyledLine]] = []
    for number, row in enumerate(texts, 1):
        roles = ("cursor", "cursor") if number - 1 in block.edited_rows else ("row", "row-dim")
        line = table_line(row, columns, right, 2, 0, roles, writer)[1:]
        rows.append([[*_number_cell(number, block), *line]])
    return rows


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
) -> list[list[StyledLine]]:
    """Return blocks divided over as many pages as they need.

    With several columns each block stays in one, if that needs no more pages and the first page shows no less.
    """
    broken, most = _fill_columns(blocks, count, rows_per_page)
    kept, shown = _fill_columns(blocks, count, rows_per_page, keep_whole=True) if count > 1 else (broken, most)
    return kept if shown >= most and (len(kept) - 1) // count <= (len(broken) - 1) // count else broken


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


def shows_pane(view: DetailView, box: LayoutBox) -> bool:
    """Return True if the page has a pane and the screen has room for it."""
    return view.side is not None and box.cells >= MIN_CELLS_WITH_PANE and box.rows >= MIN_ROWS_WITH_PANE


def lines_with_pane(
    view: DetailView, side: SidePane, box: LayoutBox, overlap: VerdictOverlap
) -> tuple[list[StyledLine], Msg | None]:
    """Return the page with its pane, and the number of the page as `detail_lines` does."""
    cells = min(MAX_PANE_CELLS, box.cells * 2 // 5)
    left = box.cells - cells - 3
    lines, page = detail_lines(view, box._replace(cells=left), overlap)
    rule = "|" if box.writer.is_ascii else "│"
    pane = _pane_lines(side, box._replace(cells=cells))[: len(lines)]
    filler: list[StyledLine] = [[] for _ in range(len(lines) - len(pane))]
    return side_by_side(lines, [*pane, *filler], left, [(rule, "rule"), ("  ", "")]), page


def _pane_lines(side: SidePane, box: LayoutBox) -> list[StyledLine]:
    lines = axis_chart_lines(side.chart, box._replace(rows=CHART_ROWS)) if side.chart else []
    for block in side.blocks:
        if block.rows:
            lines += [*([[]] if lines else []), *block_lines(block, box.cells, box.writer)]
    return lines
