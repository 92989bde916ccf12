"""What is different between two painted screens, in as few cells as it pays to write."""

from __future__ import annotations

from aisle.text import cell
from aisle.tui.screens.painted import Line, Painted, line_width
from aisle.tuples import NamedTuple

BRIDGE = 12
"""Unchanged cells between two changes that are cheaper to write again than to jump over."""

_STEADY = ((0x20, 0x2FF), (0x370, 0x482), (0x2010, 0x2044), (0x20A0, 0x20BF), (0x2190, 0x2193), (0x2500, 0x25FF))
"""Characters on whose width every terminal agrees."""

Cell = tuple[str, str]

BLANK = (" ", "")


class Change(NamedTuple):
    """Spans to write at column `x` of row `y`."""

    y: int
    x: int
    spans: Line
    erase: bool
    """The rest of the row behind them is to be erased."""


def changes(old: Painted | None, new: Painted) -> list[Change]:
    """What to write to turn one screen into the other; everything if there is no old one of the same size."""
    if old is None or (old.columns, old.rows) != (new.columns, new.rows):
        return [_whole(y, line, new.columns) for y, line in enumerate(new.lines)]
    found: list[Change] = []
    for y, (was, is_) in enumerate(zip(old.lines, new.lines, strict=True)):
        if was != is_:
            found.extend(_line_changes(y, was, is_, new.columns))
    return found


def _whole(y: int, line: Line, columns: int) -> Change:
    """A whole row. Where it is full nothing is left to erase, and an erase would take its last character with it."""
    return Change(y, 0, line, line_width(line) < columns)


def _line_changes(y: int, old: Line, new: Line, columns: int) -> list[Change]:
    if not (_is_steady(old) and _is_steady(new)):
        return [_whole(y, new, columns)]
    was, is_ = _cells(old), _cells(new)
    end = len(is_)
    while end and is_[end - 1] == BLANK:
        end -= 1
    old_end = len(was)
    while old_end and was[old_end - 1] == BLANK:
        old_end -= 1
    width = max(end, old_end)
    was += [BLANK] * (width - len(was))
    is_ += [BLANK] * (width - len(is_))
    found = [Change(y, first, _spans(is_[first:last]), False) for first, last in _stretches(was, is_, end)]
    if old_end > end:
        found = _erased(found, y, end)
    return found


def _stretches(was: list[Cell], is_: list[Cell], end: int) -> list[tuple[int, int]]:
    """Runs of cells that differ, up to `end`; runs that are close together are one."""
    runs: list[tuple[int, int]] = []
    for x in range(end):
        if was[x] == is_[x]:
            continue
        if runs and x - runs[-1][1] < BRIDGE:
            runs[-1] = (runs[-1][0], x + 1)
        else:
            runs.append((x, x + 1))
    return runs


def _erased(found: list[Change], y: int, end: int) -> list[Change]:
    """The rest of the row goes: with the last change if it ends there, else in a change of its own."""
    if found:
        last = found[-1]
        if last.x + sum(len(text) for text, _ in last.spans) == end:
            return [*found[:-1], last._replace(erase=True)]
    return [*found, Change(y, end, [], True)]


def _is_steady(line: Line) -> bool:
    """Whether every character surely takes one cell: only then does a column mean the same to both sides."""
    return all(
        text.isascii()
        or all(any(first <= ord(char) <= last for first, last in _STEADY) and cell(char) for char in text)
        for text, _ in line
    )


def _cells(line: Line) -> list[Cell]:
    return [(char, "" if char == " " and not _shows_blank(role) else role) for text, role in line for char in text]


def _shows_blank(role: str) -> bool:
    """Whether a blank of this role looks different from an empty cell."""
    return role in ("caret", "cursor") or role.startswith("verdict-")


def _spans(cells: list[Cell]) -> Line:
    spans: Line = []
    for char, role in cells:
        last = spans[-1][1] if spans else None
        if last == role or (char == " " and not role and last is not None and not _shows_blank(last)):
            spans[-1] = (spans[-1][0] + char, spans[-1][1])
        else:
            spans.append((char, role))
    return spans
