"""Every form of a code, and every substitute of FNC1, in every job, in one write and slow: what is booked."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.session.session import Session
from tests.cache.test_delivery_queries import delivery, line
from tests.scan.test_gs1_labels import SUBSTITUTES
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import begun
from tests.session.test_code_forms import EAN, FORMS, at, home
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import say, told

__all__ = ["home"]

COUNTING = ("count", "move", "receive", "adjust", "pick")
PACES = (0.0, 0.001, 0.003, 0.006, 0.012)
PRICED = ("0212345806753", "212345806753", "00212345806753", "(01)00212345806753")
"""A label of 6.75 for the ham at 5.00, in each form."""

CODES = [*((text, f"P{number}", "1") for text, number in FORMS), *((text, "P6", "1.35") for text in PRICED)]


@pytest.fixture(autouse=True)
def _delivery(home: StoreFolder) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_deliveries([delivery("D-1", *(line(n, f"P{n}", 60) for n in range(1, 7)))], 1.0)


@pytest.mark.parametrize("job", COUNTING)
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize(("text", "number", "quantity"), CODES)
def test_every_job_books_what_a_form_says(
    home: StoreFolder, job: str, pace: float, text: str, number: str, quantity: str
) -> None:
    with at(home) as session:
        begun(session, job)
        Scanner(session).send(f"{text}\r", pace)
        assert quantities(session) == {number: Decimal(quantity)}


@pytest.mark.parametrize("job", COUNTING)
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("sign", SUBSTITUTES)
def test_every_job_reads_the_count_behind_a_substitute(home: StoreFolder, job: str, pace: float, sign: str) -> None:
    with at(home) as session:
        begun(session, job)
        Scanner(session).send(f"010{EAN}10LOT7{sign}3012\r", pace)
        assert quantities(session) == {"P1": Decimal(12)}


PAGES: dict[str, Callable[[Session], object]] = {
    "home": lambda _session: None,
    "look_up": lambda session: say(session, "?"),
    "batch": lambda session: opened(session, "batch"),
    "shortage": lambda session: say(session, "4101", "s"),
}
"""Pages without a quantity."""


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize(("text", "number", "quantity"), CODES)
def test_every_page_knows_the_product_of_a_form(
    home: StoreFolder, page: str, pace: float, text: str, number: str, quantity: str
) -> None:
    """It says the same of each form as of the product's number."""
    with at(home) as session:
        PAGES[page](session)
        frame = Scanner(session).send(f"{text}\r", pace)
        assert "unknown" not in told(frame)[1]
        said = frame.verdict, frame.view.name
    labels = {"P1": "Honey", "P2": "Weekly", "P3": "Juice", "P6": "Ham"}
    assert labels[number] in str(said) or number in str(frame.view)
