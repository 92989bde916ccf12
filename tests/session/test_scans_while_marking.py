"""A scan while rows are marked marks what it fits, or is refused: the list and its marks stay on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.jobs.view import GOOD, INFO, WRONG
from aisle.scan.inputs_and_line_grouping import ROW_KEY, Key
from tests.session.every_page import on_page
from tests.session.scanner import Scanner
from tests.session.test_session import BARCODES, told


@pytest.mark.parametrize(
    ("page", "scans", "verdict", "marked"),
    [
        ("exceptions.differences", (BARCODES[0],), (INFO, "orders.rows_marked"), 1),
        ("exceptions.differences", ("A-1",), (INFO, "orders.rows_marked"), 1),
        ("exceptions.differences", (BARCODES[0], "A-1"), (INFO, "orders.rows_marked"), 0),
        ("exceptions.differences", ("A-1", BARCODES[1]), (WRONG, "orders.no_row"), 1),
        ("exceptions.differences", ("A-1", "A-2"), (WRONG, "orders.no_row"), 1),
        ("exceptions.differences", ("A-1", "4102"), (WRONG, "orders.no_row"), 1),
        ("orders", ("4101",), (GOOD, "orders.marked"), 1),
        ("orders", ("4101", "4102"), (GOOD, "orders.marked"), 2),
        ("orders", ("4101", BARCODES[0]), (WRONG, "page.not_this"), 1),
        ("orders", ("4101", "A-1"), (WRONG, "page.not_this"), 1),
    ],
)
@pytest.mark.parametrize("pace", [0.0, 0.006])
def test_a_scan_while_marking_keeps_the_list_and_its_marks(
    aisle_home: Path, page: str, scans: tuple[str, ...], verdict: tuple[str, str], marked: int, pace: float
) -> None:
    with on_page(aisle_home, page) as session:
        scanner = Scanner(session)
        scanner.send("m\r", 0.12)
        for scan in scans:
            scanner.rest(3.0)
            frame = scanner.send(f"{scan}\r", pace)
        assert (told(frame), frame.view.name) == (verdict, page)
        assert len(session.stack.top.state.marked) == marked


@pytest.mark.parametrize("page", ["orders", "exceptions.differences"])
@pytest.mark.parametrize("is_marking", [True, False])
def test_a_click_marks_its_row_while_rows_are_marked(aisle_home: Path, page: str, is_marking: bool) -> None:
    with on_page(aisle_home, page) as session:
        if is_marking:
            Scanner(session).send("m\r", 0.12)
        for marked in (1, 0):
            session.take([Key(f"{ROW_KEY}0")], 9.0)
            assert len(session.stack.top.state.marked) == marked * is_marking
