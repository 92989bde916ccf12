"""Codes of the store that look like quantities, negative numbers or letters: they are asked about, or found."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG, Frame
from aisle.session.session import Session
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.copied_databases import copied_home
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import shown
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

CHEESE, TEA = "9520001100505", "4006381333931"
PLACES = ("A-1", "2.5", "10.02", "1.2", "1,5", "0.5", "1.0", "3", "-1", ".75", "X", "Q")
NUMBERS = ("7", "2.4", "10,3", "-1234562", ".1234567", "+7", "-12345678", "0.1234")


def filled(cache: CacheWriter) -> None:
    """A store of short codes, with goods by the kilogram and by the piece."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cheese = service_rows.product("P1", "Cheese", CHEESE, allow_decimal=True, base_unit_name="kg")
    named = [service_rows.product(number, f"Bag {number}") for number in NUMBERS]
    cache.write_products([cheese, service_rows.product("P2", "Tea", TEA), *named])
    cache.write_stock([service_rows.stock(number, 60, places={"A-1": 60}) for number in ("P1", "P2", *NUMBERS)])
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate(PLACES, 1)])
    lines = [
        service_rows.line(n, number, 40, preferred_location_code="A-1")
        for n, number in enumerate(("P1", "P2", *NUMBERS), 1)
    ]
    cache.write_orders([service_rows.order("4101", *lines)], lines_known=True, read_began=1.0)
    goods = enumerate(("P1", "P2", *NUMBERS), 1)
    cache.write_deliveries([delivery("D-1", *(line(n, number, 40) for n, number in goods))], 1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


JOBS: dict[str, tuple[str, ...]] = {
    "count": ("A-1",),
    "adjust": ("A-1",),
    "move": ("A-1",),
    "receive": ("D-1",),
    "pick": ("4101",),
}


def open_quantity(session: Session, job: str, goods: str) -> Scanner:
    """The quantity of goods is open in that job, at 1."""
    if job == "pick":
        say(session, "4101", f"1*{goods}")
    else:
        opened(session, job, *JOBS[job], f"1*{goods}")
    scan = Scanner(session)
    scan.rest(2.5)
    return scan


def choices(frame: Frame) -> str:
    view: Any = frame.view
    return " ".join(view.choice_letters) + repr(view.choices)


@pytest.mark.parametrize("pace", [0.0, 0.006, 0.15])
@pytest.mark.parametrize("code", ["2.5", "10.02", "1.2", "1,5", "0.5", "1.0", "2.4", "10,3", ".75", "7", "3"])
@pytest.mark.parametrize("job", JOBS)
def test_a_code_that_looks_like_a_quantity_is_asked_about(home: StoreFolder, job: str, code: str, pace: float) -> None:
    with at(home, user="U1") as session:
        scan = open_quantity(session, job, CHEESE)
        before = quantities(session)
        frame = scan.send(f"{code}\r", pace)
        assert told(frame)[0] == ASK
        assert told(frame)[1] != "input.confirm_fast_number"
        assert repr(code) in choices(frame) or f"Bag {code}" in choices(frame)
        assert quantities(session) == before


@pytest.mark.parametrize("code", ["2.5", "10.02", "1.2", "1,5", "0.5", "2.4", "-1", "-1234562", ".1234567", "+7"])
@pytest.mark.parametrize("pace", [0.0, 0.006, 0.15])
@pytest.mark.parametrize("job", JOBS)
def test_a_code_that_is_no_quantity_of_pieces_is_found(home: StoreFolder, job: str, code: str, pace: float) -> None:
    with at(home, user="U1") as session:
        scan = open_quantity(session, job, TEA)
        frame = scan.send(f"{code}\r", pace)
        assert told(frame)[1] not in ("input.whole_number_only", "input.no_quantity", "input.too_many_decimals")
        assert told(frame)[1] != "count.unknown"
        assert quantities(session).get("P2", Decimal(1)) == 1, shown(frame)


@pytest.mark.parametrize("typed", ["-3", "+2", "-1,5", "2.25", "1,75", "0.333"])
def test_what_the_store_does_not_have_is_no_quantity_as_before(home: StoreFolder, typed: str) -> None:
    with at(home, user="U1") as session:
        open_quantity(session, "count", TEA)
        assert told(say(session, typed))[1] in ("input.whole_number_only", "input.no_quantity")
        assert quantities(session) == {"P2": Decimal(1)}


@pytest.mark.parametrize("pace", [0.0, 0.006])
@pytest.mark.parametrize("code", ["3", "X", "Q"])
def test_a_code_of_one_character_is_found_by_a_scan(home: StoreFolder, code: str, pace: float) -> None:
    with at(home, user="U1") as session:
        assert Scanner(session).send(f"{code}\r", pace).view.name == "locations.location"
    with at(home, user="U1") as session:
        opened(session, "move")
        frame = Scanner(session).send(f"{code}\r", pace)
        assert code in shown(frame)
        assert told(frame)[0] != WRONG


@pytest.mark.parametrize("typed", ["x", "X", "q", "Q", "3", "z"])
def test_a_character_that_is_typed_is_no_scan(home: StoreFolder, typed: str) -> None:
    with at(home, user="U1") as session:
        opened(session, "move")
        frame = Scanner(session).send(f"{typed}\r", 0.15)
        assert told(frame)[1] in ("input.no_command", "input.no_choice_back") or frame.view.name != "move.from"


@pytest.mark.parametrize("pace", [0.0, 0.006])
@pytest.mark.parametrize("code", ["V", "J", "Z", "Y", "2.25", "0,75", "-9", "-7654321", "+3", ".7654321"])
@pytest.mark.parametrize("job", ["count", "move", "receive", "adjust"])
def test_a_number_after_a_scan_of_an_unknown_short_code_is_asked_back(
    home: StoreFolder, job: str, code: str, pace: float
) -> None:
    with at(home, user="U1") as session:
        scan = open_quantity(session, job, TEA)
        assert told(scan.send(f"{code}\r", pace)) != (WRONG, "input.no_quantity")
        assert told(say(session, "9"))[1] == "input.number_after_refused_scan"


FORMS = (
    *(f"{prefix}{start}{TEA}{stop}" for prefix in ("", "]F0") for start, stop in ("AB", "CD", "DA", "ab", "BB")),
    *(f"9771234567898{add_on}" for add_on in ("-05", "-12345", "+05", " 05", "05")),
    "9780201379624-51299",
    f'"{TEA}"',
)
"""Codabar with its start and stop letters, codes with an add-on, and in quotes."""


@pytest.mark.parametrize("code", FORMS)
@pytest.mark.parametrize("pace", [0.0, 0.006])
def test_a_code_is_found_in_the_form_of_its_symbology(home: StoreFolder, code: str, pace: float) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    books = {"P8": "9771234567898", "P9": "9780201379624"}
    cache.write_products([service_rows.product(number, "Book", code) for number, code in books.items()])
    with at(home, user="U1") as session:
        opened(session, "count", "A-1")
        frame = Scanner(session).send(f"{code}\r", pace)
        found = {"P2" if TEA in code else "P8" if code[:3] == "977" else "P9"}
        assert set(quantities(session)) == found, (told(frame), shown(frame))
