"""Reports of the mouse, and the key that lies under a click."""

from __future__ import annotations

import pytest

from aisle.tui.layout.styled_lines_and_page_parts import StyledLine
from aisle.tui.mouse import ClickTarget, MouseInput, click_target, parse_mouse


@pytest.mark.parametrize(
    ("data", "mouse"),
    [
        ("\x1b[<0;1;1M", MouseInput("click", 0, 0)),
        ("\x1b[<0;120;40M", MouseInput("click", 119, 39)),
        ("\x1b[<16;5;6M", MouseInput("click", 4, 5)),
        ("\x1b[<64;5;6M", MouseInput("wheel_up", 4, 5)),
        ("\x1b[<65;5;6M", MouseInput("wheel_down", 4, 5)),
        ("\x1b[<0;5;6m", None),
        ("\x1b[<2;5;6M", None),
        ("\x1b[<35;5;6M", None),
        ("\x1b[<0;5M", None),
        ("\x1b[<99999;1;1M", None),
        ("\x1b[A", None),
    ],
)
def test_reports(data: str, mouse: MouseInput | None) -> None:
    assert parse_mouse(data) == mouse


HINTS: StyledLine = [(" ", ""), ("n", "hint-key"), (" ", ""), ("Next", "hint"), ("   ", ""), ("b", "hint-key"),
                     (" ", ""), ("Back", "hint")]  # fmt: skip
ROW: StyledLine = [(" 2", "row-key:1"), (" ", ""), ("4104", "cell:1"), ("  ", ""), ("Tom", "cell-dim:1"), ("│", "rule"),
                   ("1", "choice-key"), (" ", ""), ("Claim", "choice"), (" ", ""), ("Note", "row")]  # fmt: skip
DETAIL: StyledLine = [("2", "row-key"), (" ", ""), ("Price", "row"), ("  ", ""), ("2.95", "row-dim")]


@pytest.mark.parametrize(
    ("line", "x", "target"),
    [
        (HINTS, 1, ClickTarget("hint-key", "n")),
        (HINTS, 4, ClickTarget("hint-key", "n")),
        (HINTS, 10, ClickTarget("hint-key", "b")),
        (HINTS, 13, ClickTarget("hint-key", "b")),
        (HINTS, 0, None),
        (HINTS, 8, None),
        (HINTS, 40, None),
        (ROW, 1, ClickTarget("row", "1")),
        (ROW, 4, ClickTarget("row", "1")),
        (ROW, 10, ClickTarget("row", "1")),
        (ROW, 21, None),
        (DETAIL, 0, ClickTarget("row-key", "2")),
        (DETAIL, 10, ClickTarget("row-key", "2")),
        (ROW, 13, ClickTarget("choice-key", "1")),
        (ROW, 16, ClickTarget("choice-key", "1")),
        ([("  ›SUP-2   open", "cursor:1")], 9, ClickTarget("row", "1")),
        ([("2", "choice-key"), ("›Stuck", "cursor")], 3, ClickTarget("choice-key", "2")),
        ([(" ", ""), (" all 42 ", "chip-on"), (" ", ""), (" late 7 ", "chip")], 4, ClickTarget("chip", "0")),
        ([(" ", ""), (" all 42 ", "chip-on"), (" ", ""), (" late 7 ", "chip")], 12, ClickTarget("chip", "1")),
        ([(" Today ", "tab"), (" ", ""), (" Orders 7 ", "tab-on")], 9, ClickTarget("tab", "1")),
        ([("title", "title")], 1, None),
        ([("Pickup", "head-on:pickup")], 3, ClickTarget("head", "pickup")),
        pytest.param([("Tom", "cell-dim")], 1, None, marks=pytest.mark.drawn),
        ([], 1, None),
    ],
)
def test_the_key_under_a_click(line: StyledLine, x: int, target: ClickTarget | None) -> None:
    assert click_target(line, x) == target
