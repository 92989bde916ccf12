"""`u` on a cart after something was only selected: the selection is dropped, and what was booked waits for the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session.every_page import on_page
from tests.session.test_session import BARCODES, say, told

FIRST, SECOND = BARCODES[:2]
LOADED = ("A-1", "c", FIRST, "5", "A-2", SECOND, "d")
PUT = (*LOADED, f"2*{FIRST}", "A-2")


@pytest.mark.parametrize(
    ("scans", "selecting", "then"),
    [
        (LOADED, SECOND, "move.take_undone"),
        (LOADED, "n", "move.take_undone"),
        (LOADED, f"1*{SECOND}", "move.take_undone"),
        (PUT, SECOND, "move.undone"),
        (PUT, "n", "move.undone"),
    ],
)
def test_u_drops_a_selection_before_it_undoes_a_step(
    aisle_home: Path, scans: tuple[str, ...], selecting: str, then: str
) -> None:
    with on_page(aisle_home, "move.from") as session:
        for scan in scans:
            say(session, scan)
        before = session.stack.top.state
        assert told(say(session, selecting))[1] == "move.current_goods"
        while session.stack.top.state.current_index != before.current_index or session.stack.top.state.portion:
            assert told(say(session, "u"))[1] == "move.current_goods"
        assert (session.stack.top.state.in_hand, session.stack.top.state.history) == (before.in_hand, before.history)
        assert told(say(session, "u"))[1] == then
        assert len(session.stack.top.state.history) == len(before.history) - 1
