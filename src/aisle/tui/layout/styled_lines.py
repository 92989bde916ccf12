"""A drawn screen: lines of text with roles, and the small tools that lay lines beside and inside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aisle.text import fit_start, width

StyledSpan = tuple[str, str]
"""Text and its role; the role decides the colour and is empty for plain text."""

StyledLine = list[StyledSpan]
"""One line, not wider than the screen; what is missing at its right end is empty."""

ROLES = (
    "title", "who", "rule", "bar", "place", "product", "quantity", "tote", "note", "label", "value",
    "head", "cell", "cell-dim", "cursor", "stop-place", "stop-label", "stop-quantity",
    "block", "row", "row-dim", "row-key", "mark", "mark-here",
    "choice-key", "choice", "hint-key", "hint", "prompt", "typed", "caret",
    "verdict-good", "verdict-wrong", "verdict-info", "verdict-ask",
    "look-good", "look-wrong", "look-info", "look-ask",
    "link-live", "link-syncing", "link-offline", "link-none", "link-refused", "link-doubtful", "link-dim",
)  # fmt: skip
"""Every role; each is a class of a part of the board (`screen--title`), with its colours in `styles/`."""


class StyledScreen(NamedTuple):
    """A whole screen: exactly `rows` lines, none wider than `columns`."""

    columns: int
    rows: int
    lines: list[StyledLine]


def line_width(line: StyledLine) -> int:
    """Cells that a line takes."""
    return width("".join([text for text, _ in line]))


def pad_line(line: StyledLine, cells: int, role: str = "") -> StyledLine:
    """The line, filled with blanks of a role to exactly `cells`."""
    missing = cells - line_width(line)
    return [*line, (" " * missing, role)] if missing > 0 else line


def clip_line(line: StyledLine, cells: int) -> StyledLine:
    """The line without whatever stands right of `cells`: the last guard of the width."""
    kept: StyledLine = []
    room = cells
    for text, role in line:
        if room <= 0:
            break
        head = fit_start(text, room)
        kept.append((head, role))
        room -= width(head)
    return kept


def left_and_right(left: StyledLine, right: StyledLine, cells: int) -> StyledLine:
    """One line with something at each end; the right side goes where both do not fit."""
    gap = cells - line_width(left) - line_width(right)
    if not right or gap < 1:
        return left
    return [*left, (" " * gap, ""), *right]


def side_by_side(
    left: Sequence[StyledLine], right: Sequence[StyledLine], cells: int, between: StyledLine
) -> list[StyledLine]:
    """Two columns: the left `cells` wide, `between` after it on every line that has a right side."""
    lines = []
    for index in range(max(len(left), len(right))):
        line = left[index] if index < len(left) else []
        other = right[index] if index < len(right) else []
        lines.append([*pad_line(line, cells), *between, *other])
    return lines


def plain_lines(screen: StyledScreen) -> list[str]:
    """The text of each line, without roles and without blanks at the end."""
    return ["".join(text for text, _ in line).rstrip() for line in screen.lines]
