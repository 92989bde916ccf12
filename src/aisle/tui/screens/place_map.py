"""The places around as one sign each, the fuller the higher."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aisle.jobs.view import Mark
from aisle.tui.catalogue import Voice
from aisle.tui.screens.painted import Line, line_width
from aisle.tui.screens.parts import flowed
from aisle.tui.screens.step import Box

LEVELS = "▁▂▃▄▅▆▇█"
ASCII_LEVELS = ".:-=+*#@"
EMPTY, ASCII_EMPTY = "·", "_"
"""How full a place is."""


def rows(marks: Sequence[Mark], box: Box, most: int) -> list[Line]:
    """How full the places around are: with their names where that fits, else one sign each around the present one."""
    groups: dict[str, list[Mark]] = {}
    for mark in marks:
        groups.setdefault(_bay(mark.place, box.voice), []).append(mark)
    items: list[Line] = [
        [(f"{name} ", "mark"), *(_sign(mark, box.voice) for mark in group)] for name, group in groups.items()
    ]
    lines = flowed(items, box.cells, 2)
    if len(lines) <= most and all(line_width(line) <= box.cells for line in lines):
        return lines
    at = next((index for index, mark in enumerate(marks) if mark.here), 0)
    room = box.cells - 4
    first = max(0, min(at - room // 2, len(marks) - room))
    seen = marks[first : first + room]
    cut = (box.voice.mark, "mark")
    line: Line = [_sign(mark, box.voice) for mark in seen]
    return [[*([cut] if first else []), *line, *([cut] if first + room < len(marks) else [])]]


def _bay(place: str, voice: Voice) -> str:
    """What stands before the last part of a code: places of one bay share their name."""
    name = voice.raw(place)
    cut = max(name.rfind(sign) for sign in "-./ _")
    return name[:cut] if cut > 0 else name


def _sign(mark: Mark, voice: Voice) -> tuple[str, str]:
    levels, empty = (ASCII_LEVELS, ASCII_EMPTY) if voice.plain else (LEVELS, EMPTY)
    share = min(Decimal(1), mark.share)
    sign = levels[min(len(levels) - 1, int(share * len(levels)))] if share > 0 else empty
    return (f"[{sign}]", "mark-here") if mark.here else (sign, "mark")
