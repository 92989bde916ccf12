"""A number is asked about over another question, and the session ends: both questions stand as they were."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, View
from tests.cache import service_rows
from tests.session.every_page import on_page
from tests.session.job_steps import ELSEWHERE, WAYS, lasts, stand
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import begin, headers_only, way
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_one_letter_locations import write_locations
from tests.session.test_session import BARCODES, _writer, at, home, say, told

__all__ = ["headers_only", "home", "way"]


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


CHEESE = "9520001100505"
"""Goods by the kilogram, of which the session asks how much it is."""

INPUTS: dict[str, tuple[str, ...]] = {
    "a number of the store": ("12",),
    "a number at the pace of a scanner": ("38",),
    "one over goods that are not expected": (ELSEWHERE, "38"),
    "a number of the store over them": (ELSEWHERE, "12"),
    "one over how much it is": (CHEESE, "38"),
    "a number of the store over how much it is": (CHEESE, "12"),
    "both over how much it is": (CHEESE, "12", "38"),
    "how much it is, and a place": (CHEESE, "A-3"),
    "goods that are not expected, and how much": (ELSEWHERE, CHEESE, "12"),
    "a multiplier and a number": ("12*", "38"),
}
"""What a scanner sends; 12 is a location and the number of a product."""

LASTING = [way for way in WAYS if lasts(way)]


def without_ages(view: View) -> str:
    """A view without the seconds since its data were read."""
    return re.sub(r"\('seconds', '\d+'\)", "", repr(view))


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("way", LASTING, indirect=True)
def test_all_that_is_asked_stands_as_it_was(home: StoreFolder, way: str, name: str) -> None:
    with _writer(home) as cache:
        cache.write_locations([service_rows.location("12", 60)])
        known = [service_rows.product("P5", "Cheese", CHEESE, allow_decimal=True, base_unit_name="kg")]
        cache.write_products([*known, service_rows.product("12", "Twelve", "9520001100598")])
    with begin(home, way) as session:
        stand(home, session, way)
        scanner = Scanner(session)
        for code in INPUTS[name]:
            scanner.rest(6.0)
            scanner.send(f"{code}\r", 0.003)
        before, page = session.frames.build(), session.page
    for _ in range(2):
        with begin(home, way) as session:
            after = session.frames.build()
            assert without_ages(after.view) == without_ages(before.view)
            assert (session.page.question, session.page.asked_number) == (page.question, page.asked_number)
            if page.question.is_asked or page.asked_number.text:
                assert told(after)[0] == ASK, told(after)


@pytest.mark.parametrize("way", ["count.product", "move.take", "receive.goods"], indirect=True)
def test_the_question_below_is_asked_when_the_number_is_dropped(home: StoreFolder, way: str) -> None:
    """After a restart as before it."""
    with _writer(home) as cache:
        cache.write_products([service_rows.product("P5", "Cheese", CHEESE, allow_decimal=True, base_unit_name="kg")])
    with begin(home, way) as session:
        stand(home, session, way)
        scanner = Scanner(session)
        asked = scanner.send(f"{CHEESE}\r", 0.003).verdict
        scanner.rest(6.0)
        assert told(scanner.send("38\r", 0.003)) == (ASK, "input.confirm_fast_number")
    with begin(home, way) as session:
        assert say(session, "x").verdict == asked
