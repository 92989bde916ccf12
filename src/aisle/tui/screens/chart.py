"""Figures as bars: one row of columns for each series, all on one scale, as high as there is room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from aisle.jobs.view import Chart, Msg, Series, msg
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
"""Cells that a label and its total have, where the screen has so many."""

EIGHTHS = " ▁▂▃▄▅▆▇█"
ASCII = " ...:::##"
"""How full the topmost cell of a bar is, in eighths."""

PAGING = ("hint.page_on", "hint.page_back")


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
    pieces = [piece for one in view.series for piece in _pieces(one, box.cells)]
    own = 1 if room >= ROOMY and any(piece.axis for piece in pieces) else 0
    axis = 1 if room >= ROOMY and view.axis else 0
    each = max(2 + own, min(HIGHEST + 1 + own, (room - axis) // len(pieces)))
    shown = max(1, (room - axis) // each)
    pages = (len(pieces) + shown - 1) // shown
    at = view.page % pages
    top = max((value for one in view.series for value in one.values), default=Decimal(0))
    column, gap = _columns(max(len(view.axis), *(len(piece.values) for piece in pieces)), box.cells)
    lines: list[Line] = [*said]
    for one in pieces[at * shown : (at + 1) * shown]:
        figures = [_figures(one, column, gap, box.voice)] if each > FIGURES and column >= FIGURES else []
        keys = [_keys(one.axis, column + gap, box)] if own else []
        lines += [*_series(one, top, each - own - 1 - len(figures), column, gap, box), *figures, *keys]
    if axis:
        lines.append(_axis(view.axis, column, gap, box))
    told = msg("frame.page", page=at + 1, pages=pages) if pages > 1 else None
    return _filled(lines, [*choices, *_hints(view, box, pages)], box), told


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


def _series(one: Series, top: Decimal, height: int, column: int, gap: int, box: Box) -> list[Line]:
    """The label with its total, and the bars under it from the top down."""
    total = "" if one.total is None else box.voice.number(one.total)
    cells = min(box.cells, max(LEAST, len(one.values) * (column + gap) - gap))
    label = box.voice.short(one.label, max(1, cells - width(total) - 1))
    lines: list[Line] = [sides([(label, "row")], [(total, "quantity")], cells)]
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
    """How many eighths of a row a bar is high; anything at all shows."""
    full = int(value / top * height * 8) if top > 0 else 0
    return max(1, full) if value > 0 else 0


def _axis(axis: Sequence[Msg], column: int, gap: int, box: Box) -> Line:
    texts = [box.voice.say(each, 9 if column >= 4 else 0) for each in axis]
    cells = [fit(text, column, mark="", pad=True) for text in texts]
    return [((" " * gap).join(cells), "head")]


def _keys(axis: Sequence[Msg], column: int, box: Box) -> Line:
    """What the bars of one row are of: as many keys as stand apart, each under the beginning of its bar."""
    texts = [box.voice.short(each, box.cells) for each in axis]
    step = max(1, -(-(max((width(text) for text in texts), default=0) + 1) // column))
    cells = [fit(text, step * column, mark="", pad=True) for text in texts[::step]]
    return [(fit("".join(cells), box.cells, mark="").rstrip(), "head")]
