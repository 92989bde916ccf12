"""A number is asked about over another question of a move, and the session ends: both questions stand as they were."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from aisle.host.store_folder import StoreFolder
from aisle.jobs.view import ASK
from tests.session.every_page import on_page
from tests.session.job_steps import ELSEWHERE
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_one_letter_locations import write_locations
from tests.session.test_session import BARCODES, at, say, told


def test_goods_in_question_stand_under_a_question_about_a_number(aisle_home: Path) -> None:
    with on_page(aisle_home, "home") as session:
        write_locations(aisle_home, ("12",))
        opened(session, "move")
        scanner = Scanner(session)
        for code in ("A-1", BARCODES[0], ELSEWHERE):
            scanner.rest(6.0)
            frame = scanner.send(f"{code}\r")
        assert told(frame)[0] == ASK, told(frame)
        scanner.rest(6.0)
        before = scanner.send("12\r", 0.003)
        assert told(before) == (ASK, "move.number_of")
    with at(StoreFolder(aisle_home, "embedded", "0001"), user="U1") as session:
        after = session.frames.build()
        assert (after.view, after.verdict) == (before.view, before.verdict)
        assert told(say(session, "y")) == (ASK, "move.exceeds_expected")
        say(session, "y")
        assert Decimal(12) in quantities(session).values()
