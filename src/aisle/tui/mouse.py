"""Mouse reports of a terminal, and what a click on a line means."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from aisle.scan.inputs_and_line_grouping import PALETTE_KEY
from aisle.terminal_text import width
from aisle.tui.layout.styled_lines_and_page_parts import (
    LATE,
    QUIET,
    READY,
    WARNING,
    StyledLine,
    base_role,
    role_argument,
)

MOUSE_ON: Final = "\x1b[?1000h\x1b[?1006h"
MOUSE_OFF: Final = "\x1b[?1006l\x1b[?1000l"
"""Modes of reports on buttons and the wheel, in decimal numbers (SGR). Movements are not reported."""

DOUBLE_CLICK_S: Final = 0.5
"""Seconds between two clicks on one cell that make a double click."""

PALETTE_LABEL: Final = PALETTE_KEY.title()
"""Key of the palette as a desk shows it."""

_REPORT: Final = re.compile(r"\x1b\[<(\d{1,3});(\d{1,5});(\d{1,5})M")
_ACTIONS: Final = {0: "click", 64: "wheel_up", 65: "wheel_down"}
_MODIFIERS: Final = 4 | 8 | 16

_KEY_ROLES: Final = {
    "choice-key": "choice-key",
    "choice": "choice-key",
    "hint-key": "hint-key",
    "hint": "hint-key",
    **dict.fromkeys(
        ("row-key", "cell", "cell-dim", "row", "row-dim", "bar", "rule", LATE, WARNING, READY, QUIET), "row-key"
    ),
}
"""Role of the key that belongs to a text of each role; the key stands left of the text."""


class MouseInput(NamedTuple):
    """Click or movement of the wheel on a cell of the screen."""

    action: str
    """`click`, `wheel_up` or `wheel_down`."""
    column: int
    row: int


class ClickTarget(NamedTuple):
    """What a click stands for: a key, or something that has none."""

    kind: str
    """`choice-key`, `hint-key` or `row-key` for a key; `row` of a list, `chip`, `tab` or `head`."""
    key: str
    """Key to type; the place of a row in its window; the index of a chip or tab; a sort order."""


def parse_mouse(data: str) -> MouseInput | None:
    """Return the mouse report of an escape sequence; None if it is none, or reports a release or another button."""
    found = _REPORT.fullmatch(data)
    if found is None:
        return None
    button, column, row = map(int, found.groups())
    action = _ACTIONS.get(button & ~_MODIFIERS)
    return None if action is None else MouseInput(action, column - 1, row - 1)


def click_target(line: StyledLine, x: int) -> ClickTarget | None:
    """Return what a click at column `x` of a line chooses; None if nothing."""
    end = 0
    for at, (text, role) in enumerate(line):
        end += width(text)
        if x < end:
            return _target_of_span(line, at, base_role(role), role_argument(role))
    return None


def _target_of_span(line: StyledLine, at: int, role: str, argument: str) -> ClickTarget | None:
    """Return what a span stands for: what its role names, or the key that stands left of its text."""
    family = role.partition("-")[0]
    if family in ("chip", "tab"):
        return ClickTarget(family, str(sum(other.startswith(family) for _, other in line[:at])))
    if argument:
        return ClickTarget("head" if family == "head" else "row", argument)
    if role == "cursor" and at and line[at - 1][1] == "choice-key":
        return ClickTarget("choice-key", line[at - 1][0])
    kind = _KEY_ROLES.get(role)
    keys = [text.strip() for text, other in line[: at + 1] if other == kind]
    return ClickTarget(kind, keys[-1]) if kind and keys and keys[-1] else None
