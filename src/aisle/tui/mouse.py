"""Mouse reports of a terminal, and what a click on a line means."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from aisle.scan.inputs import PALETTE_KEY
from aisle.text_cells import width
from aisle.tui.layout.styled_lines import LATE, QUIET, READY, WARNING, StyledLine, role_argument

MOUSE_ON: Final = "\x1b[?1000h\x1b[?1006h"
MOUSE_OFF: Final = "\x1b[?1006l\x1b[?1000l"
"""Modes of reports on buttons and the wheel, in decimal numbers (SGR). Movements are not reported."""

DOUBLE_CLICK_S: Final = 0.5
"""Seconds between two clicks on one cell that make a double click."""

PALETTE_LABEL: Final = PALETTE_KEY.title()
"""Key of the palette as a desk shows it."""

_REPORT: Final = re.compile(r"\x1b\[<(\d{1,3});(\d{1,5});(\d{1,5})M")
_CURSOR_ROW: Final = re.compile(r"\s*(\d+)[›>]")
"""Number of the row with the cursor."""
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
    """Key that a click stands for, or a row without a number."""

    kind: str
    """`choice-key`, `hint-key` or `row-key`; `row` for a row without a number; `chip`, `tab` or `head`."""
    key: str
    """Key to type; the number of rows above it for a row without a number; the index of a chip or tab; a sort order."""
    text: str = ""
    """Text of the line of a row without a number."""


def parse_mouse(data: str) -> MouseInput | None:
    """Return the mouse report of an escape sequence; None if it is none, or reports a release or another button."""
    found = _REPORT.fullmatch(data)
    if found is None:
        return None
    button, column, row = map(int, found.groups())
    action = _ACTIONS.get(button & ~_MODIFIERS)
    return None if action is None else MouseInput(action, column - 1, row - 1)


def click_target(line: StyledLine, x: int) -> ClickTarget | None:
    """Return the key that belongs to the text at column `x` of a line; a `row` has no key yet."""
    end = 0
    for at, (text, role) in enumerate(line):
        end += width(text)
        family = role.partition("-")[0]
        if x < end and family in ("chip", "tab"):
            return ClickTarget(family, str(sum(other.startswith(family) for _, other in line[:at])))
        if x < end and role.startswith("head") and role_argument(role):
            return ClickTarget("head", role_argument(role))
        if x < end and role == "cursor" and at and line[at - 1][1] == "choice-key":
            return ClickTarget("choice-key", line[at - 1][0])
        if x < end and role == "cursor":
            number = _CURSOR_ROW.match(text)
            return ClickTarget("row-key", number[1]) if number else ClickTarget("row", "", _text(line))
        if x < end:
            kind = _KEY_ROLES.get(role)
            keys = [text.strip() for text, role in line[: at + 1] if role == kind]
            if kind and keys and keys[-1]:
                return ClickTarget(kind, keys[-1])
            return ClickTarget("row", "", _text(line)) if kind == "row-key" and is_row(line) else None
    return None


def is_row(line: StyledLine) -> bool:
    """Return True for the first line of a row of a list."""
    return any(role in ("cell", "cursor") for _, role in line)


def _text(line: StyledLine) -> str:
    return "".join(text for text, _ in line)
