"""Layout of charts: bar charts, also with two axes, and a map of the store with a row an aisle and a sign a location.

On narrow screens each aisle of the map is a row with a bar and its figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from aisle.jobs.view import PAGING_TEXT_IDS, Chart, Msg, Series, msg
from aisle.terminal_text import fit, width, wrap
from aisle.tui.layout.choices_and_key_hints import choice_flow, hint_lines
from aisle.tui.layout.step_view import LayoutBox
from aisle.tui.layout.styled_lines_and_page_parts import CHART, BodyParts, StyledLine, left_and_right, line_width
from aisle.tui.message_text import MessageWriter

HEAT_SIGNS = "·░▒▓█"
ASCII_HEAT_SIGNS = ".:+*#"
"""Signs of a map, from zero to the maximum."""

PARTIAL_SIGNS = " ▏▎▍▌▋▊▉█"
ASCII_PARTIAL_SIGNS = "    ----#"
"""Signs for the last cell of a horizontal bar, in eighths."""

MIN_MAP_CELLS = 60
"""Cells from which a map has signs for locations."""

MAX_LABEL_CELLS = 14
"""Maximum cells of an aisle's name."""


def heat_map_lines(view: Chart, box: LayoutBox, min_map_cells: int = MIN_MAP_CELLS) -> list[StyledLine]:
    """Return the lines of all aisles: a sign for each location from `min_map_cells` on, otherwise a bar."""
    label = min(MAX_LABEL_CELLS, max((width(box.writer.write(one.label, 0)) for one in view.series), default=1))
    figure = max((width(_aisle_figure(one, box)) for one in view.series), default=1)
    if box.cells < min_map_cells:
        top = max((one.total or Decimal(0) for one in view.series), default=Decimal(0))
        return [_aisle_bar_line(one, top, label, figure, box) for one in view.series]
    top = max((value for one in view.series for value in one.values), default=Decimal(0))
    lines: list[StyledLine] = []
    for one in view.series:
        lines += _aisle_map_lines(one, top, label, figure, box)
    return lines


def _aisle_figure(one: Series, box: LayoutBox) -> str:
    return "" if one.total is None else box.writer.format_number(one.total)


def _heat_signs(box: LayoutBox) -> str:
    return ASCII_HEAT_SIGNS if box.writer.is_ascii else HEAT_SIGNS


def _heat_sign(value: Decimal, highest: Decimal, signs: str) -> str:
    """Return the sign of a value; any value above zero differs from zero."""
    if value <= 0 or highest <= 0:
        return signs[0]
    return signs[max(1, min(len(signs) - 1, round(value / highest * (len(signs) - 1))))]


def _aisle_bar_line(one: Series, highest: Decimal, label: int, figure: int, box: LayoutBox) -> StyledLine:
    """Return name, bar and figure of an aisle in one line."""
    space = max(0, box.cells - label - figure - 2)
    name = fit(box.writer.fit_line(one.label, label), label, pad=True)
    bar = _horizontal_bar(one.total or Decimal(0), highest, space, is_ascii=box.writer.is_ascii).ljust(space)
    return [(name, "row"), (" ", ""), (bar, "bar"), (" ", ""), (_aisle_figure(one, box).rjust(figure), "quantity")]


def _horizontal_bar(value: Decimal, highest: Decimal, cells: int, *, is_ascii: bool) -> str:
    """Return a horizontal bar. A value above zero always shows, and only the maximum has full length."""
    if value <= 0 or not cells:
        return ""
    signs = ASCII_PARTIAL_SIGNS if is_ascii else PARTIAL_SIGNS
    most = 8 * cells
    full = most if value >= highest else max(1, min(most - 1, round(value * most / highest)))
    return (signs[8] * (full // 8) + signs[full % 8]).rstrip() or signs[4 if is_ascii else 1]


def _aisle_map_lines(one: Series, highest: Decimal, label: int, figure: int, box: LayoutBox) -> list[StyledLine]:
    """Return an aisle with a sign for each of its locations; a long one continues on the next line."""
    signs = _heat_signs(box)
    space = max(1, box.cells - label - figure - 4)
    wide = 2 if len(one.values) * 2 <= space else 1
    cells = [_heat_sign(value, highest, signs) * wide for value in one.values]
    each = max(1, space // wide)
    name = fit(box.writer.fit_line(one.label, label), label, pad=True)
    lines = []
    for first in range(0, max(1, len(cells)), each):
        head = " " * label if first else name
        left: StyledLine = [(head, "row"), ("  ", ""), ("".join(cells[first : first + each]), "bar")]
        lines.append(left_and_right(left, [(_aisle_figure(one, box) if not first else "", "quantity")], box.cells))
    return lines


MAX_SERIES_ROWS = 6
"""Maximum rows of one series."""

MIN_FIGURE_CELLS = 3
"""Rows of a series, and cells of a column, from which figures are shown below their bars."""

MAX_COLUMN_CELLS = 16
"""Maximum cells of one column."""

MIN_AXIS_ROWS = 4
"""Rows from which the axis has a row of its own."""

MIN_LABEL_CELLS = 36
"""Minimum cells of a label with its total, if the screen has them."""

BAR_SIGNS = " ▁▂▃▄▅▆▇█"
ASCII_BAR_SIGNS = " _.-:=+*#"
"""Signs for the topmost cell of a bar, in eighths."""


def chart_page(view: Chart, box: LayoutBox) -> tuple[BodyParts, Msg | None]:
    """Return as many series as fit, in exactly `box.rows` lines, and the page number; None if there is one page."""
    text_lines = [
        [(part, line.role)]
        for line in view.lines
        for part in wrap(box.writer.fit(line.text, lambda text: width(text) - box.cells), box.cells, 2)
    ]
    choices = choice_flow(view.choices, box.cells, box.writer)
    if not view.series:
        empty = wrap(box.writer.write(view.empty), box.cells, 2, mark=box.writer.cut_mark)
        return _fill_rows([[(part, "note")] for part in empty], [*choices, *_hint_lines(view, box, 1)], box), None
    space = max(1, box.rows - len(text_lines) - len(choices) - len(_hint_lines(view, box, 2)))
    if view.is_heat_map:
        mapped = heat_map_lines(view, box)
        pages = -(-len(mapped) // space)
        first = view.page % pages * space
        page_message = msg("frame.page", page=view.page % pages + 1, pages=pages) if pages > 1 else None
        return _fill_rows(
            [*text_lines, *mapped[first : first + space]], [*choices, *_hint_lines(view, box, pages)], box
        ), page_message
    view = _split_axis(view, box.cells)
    pieces = [piece for one in view.series for piece in _split_series(one, box.cells)]
    own = 1 if space >= MIN_AXIS_ROWS and any(piece.axis for piece in pieces) else 0
    axis = 1 if space >= MIN_AXIS_ROWS and view.axis else 0
    each = max(2 + own, min(MAX_SERIES_ROWS + 1 + own, (space - axis) // len(pieces)))
    shown = max(1, (space - axis) // each)
    pages = (len(pieces) + shown - 1) // shown
    at = view.page % pages
    top = max((value for one in view.series for value in one.values), default=Decimal(0))
    column, gap = _column_size(max(len(view.axis), *(len(piece.values) for piece in pieces)), box.cells)
    wide = _label_width(pieces, column + gap, gap, box)
    lines: list[StyledLine] = [*text_lines]
    for one in pieces[at * shown : (at + 1) * shown]:
        figures = (
            [_figure_line(one, column, gap, box.writer)]
            if each > MIN_FIGURE_CELLS and column >= MIN_FIGURE_CELLS
            else []
        )
        keys = [_key_line(one.axis, column + gap, box)] if own else []
        lines += [*_series_lines(one, top, each - own - 1 - len(figures), column, gap, wide, box), *figures, *keys]
    if axis:
        lines.append(_axis_line(view.axis, column, gap, box))
    page_message = msg("frame.page", page=at + 1, pages=pages) if pages > 1 else None
    return _fill_rows(lines, [*choices, *_hint_lines(view, box, pages)], box), page_message


def _split_axis(view: Chart, cells: int) -> Chart:
    """Return the view with the axis copied to each series, if its keys do not fit side by side."""
    if len(view.axis) <= cells:
        return view
    series = (one if one.axis else one._replace(axis=view.axis) for one in view.series)
    return view._replace(axis=(), series=tuple(series))


def _split_series(one: Series, cells: int) -> Iterator[Series]:
    """Yield a series that is wider than the screen in parts of equal length, each labelled with its range."""
    count = max(1, -(-len(one.values) // cells))
    each = max(1, -(-len(one.values) // count))
    if count == 1 or not one.axis:
        yield one._replace(values=one.values[:cells])
        return
    for first in range(0, len(one.values), each):
        keys = one.axis[first : first + each]
        label = msg("chart.part", label=one.label, first=keys[0], last=keys[-1])
        yield Series(label, one.values[first : first + each], None if first else one.total, keys)


def _fill_rows(lines: Sequence[StyledLine], footer: Sequence[StyledLine], box: LayoutBox) -> BodyParts:
    kept = [*lines][: max(0, box.rows - len(footer))]
    filler: list[StyledLine] = [[] for _ in range(box.rows - len(kept) - len(footer))]
    return BodyParts(CHART, [*kept, *filler], footer[: box.rows])


def _hint_lines(view: Chart, box: LayoutBox, pages: int) -> list[StyledLine]:
    hints = [hint for hint in view.key_hints if pages > 1 or hint.text.id not in PAGING_TEXT_IDS]
    return hint_lines(hints, box.cells, box.writer, 2)


def _column_size(count: int, cells: int) -> tuple[int, int]:
    """Return the cells of a column, and the blanks between two."""
    gap = 1 if cells >= count * 2 else 0
    return max(1, min(MAX_COLUMN_CELLS, (cells + gap) // max(1, count) - gap)), gap


def _total_text(one: Series, writer: MessageWriter) -> str:
    return "" if one.total is None else writer.format_number(one.total)


def _label_width(pieces: Sequence[Series], each: int, gap: int, box: LayoutBox) -> int:
    """Return the cells for labels and totals of all series, so that no label is cut if there is space."""
    labels = (
        width(box.writer.fit_line(one.label, box.cells)) + 1 + width(_total_text(one, box.writer)) for one in pieces
    )
    bars = max(len(one.values) for one in pieces) * each - gap
    return min(box.cells, max(MIN_LABEL_CELLS, bars, *labels))


def _series_lines(
    one: Series, highest: Decimal, height: int, column: int, gap: int, label_width: int, box: LayoutBox
) -> list[StyledLine]:
    """Return the label with its total, and the bars below it from top to bottom."""
    total = _total_text(one, box.writer)
    label = box.writer.fit_line(one.label, max(1, label_width - width(total) - 1))
    lines: list[StyledLine] = [left_and_right([(label, "row")], [(total, "quantity")], label_width)]
    signs = ASCII_BAR_SIGNS if box.writer.is_ascii else BAR_SIGNS
    eighths = [eighths_of(value, highest, height) for value in one.values]
    for row in range(height - 1, -1, -1):
        bars = [signs[max(0, min(8, full - row * 8))] * column for full in eighths]
        lines.append([((" " * gap).join(bars), "bar")])
    return lines


def _figure_line(one: Series, column: int, gap: int, writer: MessageWriter) -> StyledLine:
    """Return the value of each bar, if it fits into its column."""
    texts = [writer.format_number(value) if value else "" for value in one.values]
    cells = [fit(text if width(text) <= column else "", column, pad=True) for text in texts]
    return [((" " * gap).join(cells), "row-dim")]


def eighths_of(value: Decimal, highest: Decimal, height: int) -> int:
    """Return the height of a bar in eighths of a row. A value above zero shows, and only the maximum is full."""
    if value <= 0:
        return 0
    full = 8 * height
    return full if value >= highest else max(1, min(full - 1, round(value * full / highest)))


def _axis_line(axis: Sequence[Msg], column: int, gap: int, box: LayoutBox) -> StyledLine:
    """Return the axis of all series: as many uncut keys as fit, from the last one on."""
    line, free = "", box.cells + 1
    for index in range(len(axis) - 1, -1, -1):
        text = box.writer.write(axis[index], 9 if column >= 4 else 0)
        begin = max(0, min(index * (column + gap), box.cells - width(text)))
        if begin + width(text) < free:
            line = fit(text, free - begin, mark="", pad=True) + line if line else text
            free = begin
    return [(" " * free + line, "head")] if line else []


def _key_line(axis: Sequence[Msg], column: int, box: LayoutBox) -> StyledLine:
    """Return the axis of one series: as many keys as fit, each at the beginning of its bar."""
    texts = [box.writer.fit_line(each, box.cells) for each in axis]
    step = max(1, -(-(max((width(text) for text in texts), default=0) + 1) // column))
    cells = [fit(text, step * column, mark="", pad=True) for text in texts[::step]]
    return [(fit("".join(cells), box.cells, mark="").rstrip(), "head")]


CHART_ROWS = 13
"""Rows of a chart with its title, its axis and the labels below."""

MIN_BAR_CELLS, MAX_BAR_CELLS = 3, 7
"""Cells of a bar with the blank after it."""

MIN_MIDDLE_ROWS = 6
"""Rows of bars from which the value axis has a label in its middle."""

HATCH, ASCII_HATCH = "░", ":"
"""Sign of the bars of all series but the first."""


def axis_chart_lines(chart: Chart, box: LayoutBox) -> list[StyledLine]:
    """Return a bar chart in `box.rows` lines: title with legend, bars beside their value axis, keys below.

    The last positions are shown if not all fit.
    """
    top = max((value for one in chart.series for value in one.values), default=Decimal(0))
    gutter = width(box.writer.format_number(top)) + 1
    space = box.cells - gutter - 1
    shown = max(1, min(len(chart.axis), space // MIN_BAR_CELLS))
    column = max(MIN_BAR_CELLS, min(MAX_BAR_CELLS, space // shown))
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
