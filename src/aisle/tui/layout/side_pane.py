"""Layout of a page with a pane beside its blocks: a bar chart with two axes, and tables below it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.jobs.view import Chart, DetailView, Msg, SidePane
from aisle.safe_text import fit, width
from aisle.tui.layout.chart_view import ASCII_BAR_SIGNS, BAR_SIGNS, eighths_of
from aisle.tui.layout.choice_lines import VerdictOverlap
from aisle.tui.layout.detail_view import block_lines, detail_lines
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines import StyledLine, left_and_right, line_width, side_by_side
from aisle.tui.message_text import MessageWriter

MIN_CELLS, MIN_ROWS = 98, 20
"""Size of the body from which a page shows its pane."""

MAX_PANE_CELLS = 78

CHART_ROWS = 13
"""Rows of a chart with its title, its axis and the labels below."""

MIN_COLUMN_CELLS, MAX_COLUMN_CELLS = 3, 7
"""Cells of a bar with the blank after it."""

MIN_MIDDLE_ROWS = 6
"""Rows of bars from which the value axis has a label in its middle."""

HATCH, ASCII_HATCH = "░", ":"
"""Sign of the bars of all series but the first."""


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


def axis_chart_lines(chart: Chart, box: LayoutBox) -> list[StyledLine]:
    """Return a bar chart in `box.rows` lines: title with legend, bars beside their value axis, keys below.

    The last positions are shown if not all fit.
    """
    top = max((value for one in chart.series for value in one.values), default=Decimal(0))
    gutter = width(box.writer.format_number(top)) + 1
    space = box.cells - gutter - 1
    shown = max(1, min(len(chart.axis), space // MIN_COLUMN_CELLS))
    column = max(MIN_COLUMN_CELLS, min(MAX_COLUMN_CELLS, space // shown))
    height = max(1, box.rows - 3)
    legend = _legend(chart, box.writer)
    title: StyledLine = [(box.writer.fit_line(chart.title, box.cells - line_width(legend) - 2), "block")]
    lines = [left_and_right(title, legend, box.cells)]
    values = (one.values[-shown:] for one in chart.series)
    bars = [_bar_columns(each, top, height, column, at, box.writer) for at, each in enumerate(values)]
    for row in range(height - 1, -1, -1):
        label = _value_label(row, height, top, box.writer).rjust(gutter - 1)
        cells = [
            next((span for series in bars if (span := series[row][at])[0].strip()), (" " * column, ""))
            for at in range(shown)
        ]
        lines.append([(label, "head"), (" |" if box.writer.is_ascii else " │", "rule"), *cells])
    dash, corner = ("-", "+") if box.writer.is_ascii else ("─", "└")
    lines.append([("0".rjust(gutter - 1), "head"), (f" {corner}{dash * shown * column}", "rule")])
    return [*lines, [(" " * (gutter + 1), ""), (_key_text(chart.axis[-shown:], column, box.writer), "head")]]


def _legend(chart: Chart, writer: MessageWriter) -> StyledLine:
    """Return sign and name of each series that has values."""
    line: StyledLine = []
    for at, one in enumerate(chart.series):
        if any(one.values):
            sign, role = _sign(at, writer)
            line += [(f"{'  ' if line else ''}{sign} ", role), (writer.write(one.label, 0), "row-dim")]
    return line


def _sign(series: int, writer: MessageWriter) -> tuple[str, str]:
    """Return sign and role of the bars of a series."""
    hatch, full = (ASCII_HATCH, ASCII_BAR_SIGNS[-1]) if writer.is_ascii else (HATCH, BAR_SIGNS[-1])
    return hatch if series else full, "bar"


def _bar_columns(
    values: Sequence[Decimal], top: Decimal, height: int, column: int, series: int, writer: MessageWriter
) -> list[list[tuple[str, str]]]:
    """Return the rows of the bars of a series, from the lowest; each has a text and a role for each position."""
    full, role = _sign(series, writer)
    signs = ASCII_BAR_SIGNS if writer.is_ascii else BAR_SIGNS
    heights = [eighths_of(value, top, height) for value in values]
    rows = []
    for row in range(height):
        parts = [max(0, min(8, eighths - row * 8)) for eighths in heights]
        cells = [signs[part] if not series else full if part else " " for part in parts]
        rows.append([(cell * (column - 1) + " ", role) for cell in cells])
    return rows


def _value_label(row: int, height: int, top: Decimal, writer: MessageWriter) -> str:
    """Return the label of the value axis beside a row of bars: the highest value, and half of it."""
    if row == height - 1:
        return writer.format_number(top)
    is_middle = height >= MIN_MIDDLE_ROWS and not height % 2 and row == height // 2 - 1
    return writer.format_number(top / 2) if is_middle else ""


def _key_text(axis: Sequence[Msg], column: int, writer: MessageWriter) -> str:
    """Return the keys below the bars, as many as fit uncut."""
    texts = [writer.write(key, 0) for key in axis]
    step = max(1, -(-(max(map(width, texts), default=0) + 1) // column))
    return "".join(fit(text, step * column, mark="", pad=True) for text in texts[::step]).rstrip()
