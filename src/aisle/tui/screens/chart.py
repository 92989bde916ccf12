"""Figures as bars: one row of columns for each series, all on one scale, as high as there is room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from aisle.jobs.view import PAGING, Chart, Msg, Series, msg
from aisle.text import fit, width, wrap
from aisle.tui.catalogue import Voice
from aisle.tui.screens import heat
from aisle.tui.screens.painted import Line, sides
from aisle.tui.screens.parts import choice_flow, hint_lines
from aisle.tui.screens.step import Box

HIGHEST = 6
"""Rows of one series at most."""

FIGURES = 3
"""Rows and cells from which on the figures stand under their bars."""

WIDEST = 16
"""Cells of one column at most."""

ROOMY = 4
"""Rows from which on there is one for what stands under the bars."""

LEAST = 36
"""Cells that a label and its total have at least, where the screen has so many."""

EIGHTHS = " ▁▂▃▄▅▆▇█"
ASCII = " _.-:=+*#"
"""How full the topmost cell of a bar is, in eighths."""


def body(view: Chart, box: Box) -> tuple[list[Line], Msg | None]:
    """As many series as fit, in exactly so many rows, and which page of how many it is (None: there is but one)."""
    said = [
        [(part, line.role)]
        for line in view.lines
        for part in wrap(box.voice.fitting(line.text, lambda text: width(text) - box.cells), box.cells, 2)
    ]
    choices = choice_flow(view.choices, box.cells, box.voice)
    if not view.series:
        empty = wrap(box.voice.say(view.empty), box.cells, 2, mark=box.voice.mark)
        return _filled([[(part, "note")] for part in empty], [*choices, *_hints(view, box, 1)], box), None
    room = max(1, box.rows - len(said) - len(choices) - len(_hints(view, box, 2)))
    if view.heat:
        mapped = heat.rows(view, box)
        pages = -(-len(mapped) // room)
        first = view.page % pages * room
        told = msg("frame.page", page=view.page % pages + 1, pages=pages) if pages > 1 else None
        return _filled([*said, *mapped[first : first + room]], [*choices, *_hints(view, box, pages)], box), told
    view = _split(view, box.cells)
    pieces = [piece for one in view.series for piece in _pieces(one, box.cells)]
    own = 1 if room >= ROOMY and any(piece.axis for piece in pieces) else 0
    axis = 1 if room >= ROOMY and view.axis else 0
    each = max(2 + own, min(HIGHEST + 1 + own, (room - axis) // len(pieces)))
    shown = max(1, (room - axis) // each)
    pages = (len(pieces) + shown - 1) // shown
    at = view.page % pages
    top = max((value for one in view.series for value in one.values), default=Decimal(0))
    column, gap = _columns(max(len(view.axis), *(len(piece.values) for piece in pieces)), box.cells)
    wide = _wide(pieces, column + gap, gap, box)
    lines: list[Line] = [*said]
    for one in pieces[at * shown : (at + 1) * shown]:
        figures = [_figures(one, column, gap, box.voice)] if each > FIGURES and column >= FIGURES else []
        keys = [_keys(one.axis, column + gap, box)] if own else []
        lines += [*_series(one, top, each - own - 1 - len(figures), column, gap, wide, box), *figures, *keys]
    if axis:
        lines.append(_axis(view.axis, column, gap, box))
    told = msg("frame.page", page=at + 1, pages=pages) if pages > 1 else None
    return _filled(lines, [*choices, *_hints(view, box, pages)], box), told


def _split(view: Chart, cells: int) -> Chart:
    """Where the keys of all rows do not fit side by side, each row has them as its own, and goes into pieces."""
    if len(view.axis) <= cells:
        return view
    series = (one if one.axis else one._replace(axis=view.axis) for one in view.series)
    return view._replace(axis=(), series=tuple(series))


def _pieces(one: Series, cells: int) -> Iterator[Series]:
    """A row that is longer than the screen is wide, in pieces of one length; each says from where to where it goes."""
    count = max(1, -(-len(one.values) // cells))
    each = max(1, -(-len(one.values) // count))
    if count == 1 or not one.axis:
        yield one._replace(values=one.values[:cells])
        return
    for first in range(0, len(one.values), each):
        keys = one.axis[first : first + each]
        label = msg("chart.part", label=one.label, first=keys[0], last=keys[-1])
        yield Series(label, one.values[first : first + each], None if first else one.total, keys)


def _filled(lines: Sequence[Line], foot: Sequence[Line], box: Box) -> list[Line]:
    kept = [*lines][: max(0, box.rows - len(foot))]
    filler: list[Line] = [[] for _ in range(box.rows - len(kept) - len(foot))]
    return [*kept, *filler, *foot][: box.rows]


def _hints(view: Chart, box: Box, pages: int) -> list[Line]:
    hints = [hint for hint in view.hints if pages > 1 or hint.text.id not in PAGING]
    return hint_lines(hints, box.cells, box.voice, 2)


def _columns(count: int, cells: int) -> tuple[int, int]:
    """(cells of a column, blanks between two)."""
    gap = 1 if cells >= count * 2 else 0
    return max(1, min(WIDEST, (cells + gap) // max(1, count) - gap)), gap


def _total(one: Series, voice: Voice) -> str:
    return "" if one.total is None else voice.number(one.total)


def _wide(pieces: Sequence[Series], each: int, gap: int, box: Box) -> int:
    """The cells in which the labels and totals of all rows stand: no label is cut while there is room."""
    labels = (width(box.voice.short(one.label, box.cells)) + 1 + width(_total(one, box.voice)) for one in pieces)
    bars = max(len(one.values) for one in pieces) * each - gap
    return min(box.cells, max(LEAST, bars, *labels))


def _series(one: Series, top: Decimal, height: int, column: int, gap: int, wide: int, box: Box) -> list[Line]:
    """The label with its total, and the bars under it from the top down."""
    total = _total(one, box.voice)
    label = box.voice.short(one.label, max(1, wide - width(total) - 1))
    lines: list[Line] = [sides([(label, "row")], [(total, "quantity")], wide)]
    signs = ASCII if box.voice.plain else EIGHTHS
    eighths = [_eighths(value, top, height) for value in one.values]
    for row in range(height - 1, -1, -1):
        bars = [signs[max(0, min(8, full - row * 8))] * column for full in eighths]
        lines.append([((" " * gap).join(bars), "bar")])
    return lines


def _figures(one: Series, column: int, gap: int, voice: Voice) -> Line:
    """What each bar stands for, as far as it goes into its column."""
    texts = [voice.number(value) if value else "" for value in one.values]
    cells = [fit(text if width(text) <= column else "", column, pad=True) for text in texts]
    return [((" " * gap).join(cells), "row-dim")]


def _eighths(value: Decimal, top: Decimal, height: int) -> int:
    """How many eighths of a row a bar is high; anything at all shows, and none but the highest is as high as it."""
    if value <= 0:
        return 0
    full = 8 * height
    return full if value >= top else max(1, min(full - 1, round(value * full / top)))


def _axis(axis: Sequence[Msg], column: int, gap: int, box: Box) -> Line:
    """What the bars of all rows are of, from the last one on: as many keys as stand apart, none of them cut."""
    line, free = "", box.cells + 1
    for index in range(len(axis) - 1, -1, -1):
        text = box.voice.say(axis[index], 9 if column >= 4 else 0)
        begin = max(0, min(index * (column + gap), box.cells - width(text)))
        if begin + width(text) < free:
            line = fit(text, free - begin, mark="", pad=True) + line if line else text
            free = begin
    return [(" " * free + line, "head")] if line else []


def _keys(axis: Sequence[Msg], column: int, box: Box) -> Line:
    """What the bars of one row are of: as many keys as stand apart, each under the beginning of its bar."""
    texts = [box.voice.short(each, box.cells) for each in axis]
    step = max(1, -(-(max((width(text) for text in texts), default=0) + 1) // column))
    cells = [fit(text, step * column, mark="", pad=True) for text in texts[::step]]
    return [(fit("".join(cells), box.cells, mark="").rstrip(), "head")]
