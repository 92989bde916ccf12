"""Layout of a page with a pane beside its blocks: a bar chart with two axes, and tables below it."""

from __future__ import annotations

from aisle.jobs.view import DetailView, Msg, SidePane
from aisle.tui.layout.chart_view import CHART_ROWS, axis_chart_lines
from aisle.tui.layout.choice_lines import VerdictOverlap
from aisle.tui.layout.detail_view import block_lines, detail_lines
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines import StyledLine, side_by_side

MIN_CELLS, MIN_ROWS = 98, 20
"""Size of the body from which a page shows its pane."""

MAX_PANE_CELLS = 78


def shows_pane(view: DetailView, box: LayoutBox) -> bool:
    """Return True if the page has a pane and the screen has room for it."""
    return view.side is not None and box.cells >= MIN_CELLS and box.rows >= MIN_ROWS


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
