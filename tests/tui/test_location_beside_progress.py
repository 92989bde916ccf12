"""The location of a stop is on the first row at every size, whatever the progress of the order says."""

from __future__ import annotations

import pytest

from aisle.jobs.view import Frame, LinkState
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.jobs.pick_runner import Hand, line

UNITS = ("kg", "lb", "m", "g", "l", "ft")


@pytest.mark.every_case
@pytest.mark.parametrize(("cells", "rows"), [(40, 20), (20, 16), (40, 8), (60, 20)])
@pytest.mark.parametrize("units", [1, 2, 6])
def test_location_of_a_stop_is_before_the_progress(cells: int, rows: int, units: int) -> None:
    at = {"preferred_location_code": "A-KG-02"}
    lines = [line(n, f"P{n}", 5, allow_decimal=True, unit=unit, **at) for n, unit in enumerate(UNITS[:units], 1)]
    hand = Hand(*lines, line(9, "P9", 12, **at))
    first = plain_lines(layout_screen(Frame(hand.view, LinkState("live")), cells, rows))[0].lstrip()
    assert first.startswith("A-KG-02 ")
    assert first[len("A-KG-02") :].strip(), "and how far it is"
