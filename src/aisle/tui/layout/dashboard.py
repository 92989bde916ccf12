"""Layout of a dashboard: tiles side by side, below them charts and tables, then the figures of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from aisle.jobs.view import PAGING_TEXT_IDS, Block, Chart, Dashboard, DetailView, Msg, Tile, msg
from aisle.terminal_text import fit
from aisle.tui.layout.chart_view import chart_page, heat_map_lines
from aisle.tui.layout.choices_and_key_hints import choice_flow, hint_lines
from aisle.tui.layout.detail_blocks_and_tables import block_lines
from aisle.tui.layout.detail_view import detail_page
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import (
    DASHBOARD,
    BodyParts,
    StyledLine,
    clip_line,
    pad_line,
    side_by_side,
)

MIN_CELLS, MIN_ROWS = 98, 20
"""Size of the body from which a page shows its dashboard."""

MIN_TILE_CELLS = 14
"""Width of a tile below which the tiles take several rows."""

MAX_TILES_IN_ROW, MIN_ROWS_OF_TWO = 6, 36
"""Number of tiles above which they take two rows, so that their titles are whole, on a screen with so many rows."""

MIN_PANEL_CELLS, MAX_PANEL_CELLS = 32, 64
"""Width of a chart or a table."""

CHART_ROWS = 9
"""Rows of a chart, with its title and its axis."""

GAP = 3
"""Cells between tiles and between panels."""


def shows_dashboard(view: DetailView, box: LayoutBox) -> bool:
    """Return True if the page has a dashboard and the screen has room for it."""
    return view.dashboard is not None and box.cells >= MIN_CELLS and box.rows >= MIN_ROWS


def dashboard_page(view: DetailView, dashboard: Dashboard, box: LayoutBox) -> BodyParts:
    """Return the page in exactly `box.rows` lines."""
    tiles = dashboard.tiles
    hints = [hint for hint in view.key_hints if hint.text.id not in PAGING_TEXT_IDS]
    footer = [
        *choice_flow(view.choices[len(tiles) :], box.cells, box.writer, len(tiles)),
        *hint_lines(hints, box.cells, box.writer, 2),
    ]
    top = [*_tile_lines(tiles, dashboard.cursor, box), []][: max(0, box.rows - len(footer))]
    panel_lines = _panel_lines(dashboard, box)
    space = box.rows - len(top) - len(panel_lines) - len(footer) - 2
    panels = len(dashboard.charts) + len(dashboard.blocks)
    blocks = (block._replace(is_compact=False) for block in (*dashboard.blocks_below, *view.blocks))
    rest = view._replace(lines=(), choices=(), key_hints=(), page=0, blocks=tuple(blocks))
    below, page = _records(rest, box, space) if space > 2 else ([], None)
    if page is not None or space <= 2 or panels > _panels_in_row(panels, box):
        footer = [[(box.writer.fit_line(msg("frame.left_out"), box.cells), "hint")], *footer]
        below, _ = _records(rest, box, space - 1) if space > 3 else ([], None)
    rows = box.rows - len(top) - len(footer)
    body = [*panel_lines, [], *below][:rows]
    filler: list[StyledLine] = [[] for _ in range(rows - len(body))]
    return BodyParts(DASHBOARD, [*body, *filler], footer, top)


def _records(view: DetailView, box: LayoutBox, rows: int) -> tuple[list[StyledLine], Msg | None]:
    """Return the tables below the panels, and a page number if they are not whole."""
    parts, page = detail_page(view, box._replace(rows=rows))
    return parts.lines, page


def _tile_lines(tiles: Sequence[Tile], cursor: int, box: LayoutBox) -> list[StyledLine]:
    """Return the tiles, all on one line if they fit: number and title, total, and what is first in the list."""
    in_row = _tiles_in_row(len(tiles), box)
    cells = (box.cells + GAP) // in_row - GAP
    lines: list[StyledLine] = []
    for first in range(0, len(tiles), in_row):
        columns = [
            _one_tile(tile, at + 1, cells, box, is_current=at == cursor)
            for at, tile in enumerate(tiles[first : first + in_row], first)
        ]
        lines += [*([[]] if first else []), *_join_columns(columns, cells)]
    return lines


def _tiles_in_row(tiles: int, box: LayoutBox) -> int:
    """Return the number of tiles in a row, so that all rows have about as many; on a high screen there are two."""
    rows = -(-tiles // max(1, (box.cells + GAP) // (MIN_TILE_CELLS + GAP)))
    if tiles > MAX_TILES_IN_ROW and box.rows >= MIN_ROWS_OF_TWO:
        rows = max(rows, 2)
    return -(-tiles // rows) if rows else 1


def _one_tile(tile: Tile, number: int, cells: int, box: LayoutBox, *, is_current: bool) -> list[StyledLine]:
    """Return the three lines of a tile. A sign stands after the number of the one that Enter opens."""
    key, writer = str(number), box.writer
    title = fit(writer.fit_line(tile.title, cells - len(key) - 1), cells - len(key) - 1, pad=True)
    total = writer.cut_mark if tile.total is None else writer.format_number(Decimal(tile.total))
    role = f"tone-{tile.urgency}" if tile.total and tile.urgency else "row" if tile.total else "row-dim"
    note = writer.fit_line(tile.note, cells)
    head: StyledLine = [(key, "choice-key"), (" ", ""), (title, "choice")]
    return [
        [(key, "choice-key"), (f"{writer.clean_text('›')}{title}", "cursor")] if is_current else head,
        [(total, role), (" " * (cells - len(total)), "row-dim")],
        [(fit(note, cells, pad=True), "row-dim")],
    ]


def _panel_lines(dashboard: Dashboard, box: LayoutBox) -> list[StyledLine]:
    """Return charts and tables side by side, as many as fit."""
    panels: list[Chart | Block] = [*dashboard.charts[:1], *dashboard.blocks, *dashboard.charts[1:]]
    in_row = _panels_in_row(len(panels), box)
    if not in_row:
        return []
    cells = min(MAX_PANEL_CELLS, (box.cells + GAP) // in_row - GAP)
    return _join_columns(
        [_one_panel(panel, box._replace(cells=cells, rows=CHART_ROWS)) for panel in panels[:in_row]], cells
    )


def _panels_in_row(panels: int, box: LayoutBox) -> int:
    return min(panels, (box.cells + GAP) // (MIN_PANEL_CELLS + GAP))


def _one_panel(panel: Chart | Block, box: LayoutBox) -> list[StyledLine]:
    """Return a chart or a table with its title."""
    if isinstance(panel, Block):
        return block_lines(panel, box.cells, box.writer)[: box.rows]
    if not panel.is_heat_map:
        return chart_page(panel, box)[0].lines
    title: StyledLine = [(box.writer.fit_line(panel.title, box.cells), "block")]
    return [title, *heat_map_lines(panel, box, MIN_PANEL_CELLS)][: box.rows]


def _join_columns(columns: Iterable[list[StyledLine]], cells: int) -> list[StyledLine]:
    """Return columns of the same width side by side."""
    joined: list[StyledLine] = []
    for at, column in enumerate(columns):
        clipped = [pad_line(clip_line(line, cells), cells) for line in column]
        joined = side_by_side(joined, clipped, at * (cells + GAP) - GAP, [(" " * GAP, "")]) if at else clipped
    return joined
