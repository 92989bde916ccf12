"""Layout of detail pages: head (name and key values), location map, choices, commands, and the pane beside them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.jobs.view import (
    MARGIN_CELLS,
    MIN_DESK_COLUMNS,
    PAGING_TEXT_IDS,
    DetailView,
    KeyHint,
    Line,
    MapLocation,
    Msg,
    SidePane,
    msg,
    numbered_rows,
)
from aisle.terminal_text import fit_middle, width, wrap
from aisle.tui.layout.chart_view import CHART_ROWS, axis_chart_lines
from aisle.tui.layout.choices_and_key_hints import (
    VerdictOverlap,
    choice_flow,
    choice_items,
    command_flow,
    excess_cells,
    flow_items,
    hint_lines,
)
from aisle.tui.layout.detail_blocks_and_tables import SMALL_ROWS, block_lines, layout_pages
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import (
    RECORD,
    RECORD_WITH_SIDE,
    BodyParts,
    StyledLine,
    left_and_right,
    line_width,
    lines_after_rule,
)
from aisle.tui.message_text import MessageWriter

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


MIN_CELLS_WITH_PANE, MIN_ROWS_WITH_PANE = MIN_DESK_COLUMNS - MARGIN_CELLS, 20
"""Size of the body from which a page shows its pane."""

MAX_PANE_CELLS = 78


NO_OVERLAP = VerdictOverlap()


def detail_page(view: DetailView, box: LayoutBox, overlap: VerdictOverlap = NO_OVERLAP) -> tuple[BodyParts, Msg | None]:
    """Return the page in exactly the rows that are not covered, and its number; None if there is one page.

    The beginning of a page does not depend on a verdict: either all is on one page, or each page keeps its rows.
    """
    tops = _page_heads(view, box)
    blank: list[StyledLine] = [[]] if box.rows >= SMALL_ROWS else []
    space = box.rows - len(_footer(view, view.key_hints, box)) - (len(blank) if view.choices else 0)
    heads = [[*top, *blank] if top else [] for top in tops]
    kept = int(_shows_stock(view))
    pages = layout_pages(view, box, _rows_per_page(space, heads, overlap.current, kept))
    if len(pages) > 1:
        pages = layout_pages(view, box, _rows_per_page(space, heads, max(overlap), kept))
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
    body = [*above, *filler][:rows]
    return BodyParts(RECORD, body, below[: rows - len(body)]), page_message


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

    Commands keep their texts if there are `spare` lines. One row stays free unless the choices need it.
    """
    after = numbered_rows(view)
    choices = choice_items(view.choices, box.cells, box.writer, first_number=after, letters=view.choice_letters)
    if len(choices) > box.rows // 6:
        choices = choice_flow(view.choices, box.cells, box.writer, after, view.choice_letters)
    hint_rows = 2 if box.rows >= 9 else 1
    hint_rows = max(hint_rows, min(spare, box.rows // 2) - len(choices))
    footer = [*choices, *hint_lines(key_hints, box.cells, box.writer, hint_rows)[:hint_rows]]
    most = max(0, box.rows - (len(choices) < box.rows))
    for rows in (box.rows // 2, most):
        if len(footer) > rows:
            footer = command_flow(view.choices, key_hints, box.cells, box.writer, rows, after, view.choice_letters)
    return footer[:most]


def shows_pane(view: DetailView, box: LayoutBox) -> bool:
    """Return True if the page has a pane and the screen has room for it."""
    return view.side is not None and box.cells >= MIN_CELLS_WITH_PANE and box.rows >= MIN_ROWS_WITH_PANE


def page_with_side(
    view: DetailView, side: SidePane, box: LayoutBox, overlap: VerdictOverlap
) -> tuple[BodyParts, Msg | None]:
    """Return the page with its pane, and the number of the page as `detail_page` does."""
    cells = min(MAX_PANE_CELLS, box.cells * 2 // 5)
    left = box.cells - cells - 3
    parts, page = detail_page(view, box._replace(cells=left), overlap)
    rows = len(parts.lines)
    pane = _pane_lines(side, box._replace(cells=cells))[:rows]
    filler: list[StyledLine] = [[] for _ in range(rows - len(pane))]
    beside = lines_after_rule([*pane, *filler], is_ascii=box.writer.is_ascii)
    return parts._replace(kind=RECORD_WITH_SIDE, side=beside, main_cells=left), page


def _pane_lines(side: SidePane, box: LayoutBox) -> list[StyledLine]:
    lines = axis_chart_lines(side.chart, box._replace(rows=CHART_ROWS)) if side.chart else []
    for block in side.blocks:
        if block.rows:
            lines += [*([[]] if lines else []), *block_lines(block, box.cells, box.writer)]
    return lines
