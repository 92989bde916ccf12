"""A map of the store as text: one row for each aisle, its places in the order of feet, the busier the darker.

Where a screen has no room for places, each aisle is a row with its figure and a bar: a list.
"""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.view import Chart, Series
from aisle.text import fit, width
from aisle.tui.screens.painted import Line, sides
from aisle.tui.screens.step import Box

LEVELS = "·░▒▓█"
ASCII_LEVELS = ".:+*#"
"""From nothing to the most."""

PARTS = " ▏▎▍▌▋▊▉█"
ASCII_PARTS = "    ----#"
"""How full the last cell of a bar is, in eighths."""

ROOMY = 60
"""Cells from which on places have room beside the name of their aisle."""

LABEL = 14
"""Cells of an aisle's name at most."""


def rows(view: Chart, box: Box) -> list[Line]:
    """All aisles; as many lines as they need."""
    label = min(LABEL, max((width(box.voice.say(one.label, 0)) for one in view.series), default=1))
    figure = max((width(_figure(one, box)) for one in view.series), default=1)
    if box.cells < ROOMY:
        top = max((one.total or Decimal(0) for one in view.series), default=Decimal(0))
        return [_listed(one, top, label, figure, box) for one in view.series]
    top = max((value for one in view.series for value in one.values), default=Decimal(0))
    lines: list[Line] = []
    for one in view.series:
        lines += _mapped(one, top, label, figure, box)
    return lines


def _figure(one: Series, box: Box) -> str:
    return "" if one.total is None else box.voice.number(one.total)


def _signs(box: Box) -> str:
    return ASCII_LEVELS if box.voice.plain else LEVELS


def _level(value: Decimal, top: Decimal, signs: str) -> str:
    """One of the signs; anything at all is not nothing."""
    if value <= 0 or top <= 0:
        return signs[0]
    return signs[max(1, min(len(signs) - 1, round(value / top * (len(signs) - 1))))]


def _listed(one: Series, top: Decimal, label: int, figure: int, box: Box) -> Line:
    """Name, bar and figure of an aisle in one line."""
    room = max(0, box.cells - label - figure - 2)
    name = fit(box.voice.short(one.label, label), label, pad=True)
    bar = _bar(one.total or Decimal(0), top, room, plain=box.voice.plain).ljust(room)
    return [(name, "row"), (" ", ""), (bar, "bar"), (" ", ""), (_figure(one, box).rjust(figure), "quantity")]


def _bar(value: Decimal, top: Decimal, room: int, *, plain: bool) -> str:
    """A bar from left to right; anything at all shows, and none but the longest is as long as it."""
    if value <= 0 or not room:
        return ""
    signs = ASCII_PARTS if plain else PARTS
    most = 8 * room
    full = most if value >= top else max(1, min(most - 1, round(value * most / top)))
    return (signs[8] * (full // 8) + signs[full % 8]).rstrip() or signs[4 if plain else 1]


def _mapped(one: Series, top: Decimal, label: int, figure: int, box: Box) -> list[Line]:
    """An aisle with a sign for each of its places; a long one goes on in the next line."""
    signs = _signs(box)
    room = max(1, box.cells - label - figure - 4)
    wide = 2 if len(one.values) * 2 <= room else 1
    cells = [_level(value, top, signs) * wide for value in one.values]
    each = max(1, room // wide)
    name = fit(box.voice.short(one.label, label), label, pad=True)
    lines = []
    for first in range(0, max(1, len(cells)), each):
        head = " " * label if first else name
        left: Line = [(head, "row"), ("  ", ""), ("".join(cells[first : first + each]), "bar")]
        lines.append(sides(left, [(_figure(one, box) if not first else "", "quantity")], box.cells))
    return lines
