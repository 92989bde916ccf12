"""Short codes of a scanner set to a US keyboard at a French terminal, in jobs as at home."""

from __future__ import annotations

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, WRONG
from tests.cache import service_rows
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_refused_scan import TAKING, opened, quantity
from tests.session.test_numbers_after_refused_scan import home as store
from tests.session.test_session import at, told

home = store

CODES = {"A(": "Q5", "a(": "Q5", "(": "5", '"&': "31", "A&)Y": "Q1-Y"}
"""What arrives at the terminal, and the location whose label was scanned."""

PLACE_OF = {job: scans[:-1] for job, scans in TAKING.items()}
PACES = [0.0, 0.01, 0.03]


@pytest.fixture
def french(home: StoreFolder) -> StoreFolder:
    """The home with locations of short codes."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_locations([service_rows.location(code, at) for at, code in enumerate(sorted({*CODES.values()}), 3)])
    return home


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("arrived", CODES)
@pytest.mark.parametrize("job", ["home", *PLACE_OF])
def test_a_short_code_is_its_location(french: StoreFolder, job: str, arrived: str, pace: float) -> None:
    with at(french, user="U1") as session:
        if job != "home":
            opened(session, job, *PLACE_OF[job])
        frame = Scanner(session).send(f"{arrived}\r", pace)
        assert told(frame)[1] == "session.keyboard_layout"
        assert frame.verdict
        assert (frame.verdict.kind != WRONG, dict(frame.verdict.text.args)["label"]) == (True, CODES[arrived])


@pytest.mark.parametrize("arrived", ["A(", "(", "&", '"(', "(a"])
@pytest.mark.parametrize("job", ["home", *TAKING])
def test_an_unknown_short_code_names_the_keyboard(home: StoreFolder, job: str, arrived: str) -> None:
    with at(home, user="U1") as session:
        if job != "home":
            opened(session, job, *TAKING[job])
        assert told(Scanner(session).send(f"{arrived}\r")) == (WRONG, "input.keyboard_layout")


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("arrived", ['"&', "("])
@pytest.mark.parametrize("job", TAKING)
def test_digits_are_asked_about_like_the_number(french: StoreFolder, job: str, arrived: str, pace: float) -> None:
    with at(french, user="U1") as session:
        opened(session, job, *TAKING[job])
        before = quantity(session)
        frame = Scanner(session).send(f"{arrived}\r", pace)
        assert told(frame) == (ASK, "session.keyboard_layout")
        assert quantity(session) == before
    with at(french, user="U1") as session:
        session.frames.build()
        asked = Scanner(session).send(f"{CODES[arrived]}\r", pace)
        assert asked.view.name == frame.view.name
