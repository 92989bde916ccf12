"""A known code at the pace of a scanner is no value of a product's setting, and changes nothing at the question."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import WRONG, Frame
from aisle.session.session import Session
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.session.job_steps import settled
from tests.session.scanner import Scanner
from tests.session.test_code_forms import said
from tests.session.test_session import BARCODES, _writer, at, home, say

__all__ = ["home"]

CODES = ("654321", "7654329", "900002", "077001", "77001", "9520", "8001", "0042526", "4101")


@pytest.fixture
def store(home: StoreFolder) -> StoreFolder:
    """A store with short numbers of every kind, and a product whose settings may change."""
    settled(home)
    with _writer(home) as cache:
        cache.write_products(
            [
                service_rows.product("900001", "Mints", "654321"),
                service_rows.product("900002", "Soda", "7654329"),
            ]
        )
        cache.write_orders(
            [service_rows.order("077001", service_rows.line(1, "900001", 1))], lines_known=True, read_began=1.0
        )
        cache.write_locations([service_rows.location("9520", 9)])
        cache.write_deliveries([delivery("8001", line(1, "900001", 40))], 1.0)
        cache.write_people([{**service_rows.person("U2", "Hugo"), "badge": "0042526"}])
    return home


def scanned(session: Session, code: str, pace: float) -> Frame:
    """The page after the scan of a code."""
    return Scanner(session).send(f"{code}\r", pace)


def numeric_fields(session: Session) -> list[str]:
    """Numbers of the fields on the product's page whose value is a number."""
    fields = []
    for number in range(1, 10):
        say(session, f"?{BARCODES[0]}", "e")
        frame = say(session, str(number))
        if session.page.accepts().quantity:
            fields.append(str(number))
        while frame.view.name != "home":
            frame = say(session, "b")
    return fields


def test_a_known_code_is_no_value(store: StoreFolder) -> None:
    with at(store, user="U1") as session:
        fields = numeric_fields(session)
        assert len(fields) >= 3
        for field in fields:
            say(session, f"?{BARCODES[0]}", "e")
            frame = say(session, field)
            for code in CODES:
                for pace in (0.0, 0.003):
                    frame = scanned(session, code, pace)
                    assert frame.verdict is not None
                    assert frame.verdict.kind == WRONG, (code, said(frame))
                    assert frame.view.name == "store_product.value", (code, said(frame))
                    assert frame.verdict.text.args, said(frame)
            assert say(session, "y").view.name == "store_product.value"
            while frame.view.name != "home":
                frame = say(session, "b")


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.12])
@pytest.mark.parametrize("field", ["6", "7"])
@pytest.mark.parametrize("form", ["17{}", "15{}", "(15){}", "]C117{}"])
def test_a_label_with_the_date_alone_is_a_date(store: StoreFolder, form: str, field: str, pace: float) -> None:
    day = date.today() + timedelta(days=20)
    with at(store, user="U1") as session:
        say(session, f"?{BARCODES[0]}", "e", field)
        frame = scanned(session, form.format(day.strftime("%y%m%d")), pace)
        assert frame.view.name == "store_product.confirm", said(frame)
        assert f"{day.isoformat()}T00:00:00Z" in repr(session.page.top.state)


@pytest.mark.parametrize("code", CODES)
def test_a_known_code_at_the_question_changes_nothing(store: StoreFolder, code: str) -> None:
    with at(store, user="U1") as session:
        say(session, f"?{BARCODES[0]}", "e", "1")
        before = say(session, "6").view
        frame = scanned(session, code, 0.003)
        assert frame.view == before
        assert frame.verdict is not None
        assert frame.verdict.kind == WRONG


def test_a_typed_number_of_the_store_is_a_value(store: StoreFolder) -> None:
    with at(store, user="U1") as session:
        say(session, f"?{BARCODES[0]}", "e", "1")
        frame = say(session, "4101")
        assert frame.verdict is None or frame.verdict.text.id != "page.not_this"


@pytest.mark.parametrize("pace", [0.025, 0.04])
@pytest.mark.parametrize("code", ["5", "12", "4101", "9520", "8001"])
def test_a_number_of_the_store_that_comes_a_little_slower_is_asked(store: StoreFolder, code: str, pace: float) -> None:
    with _writer(store) as cache:
        cache.write_locations([service_rows.location(each, 9) for each in ("5", "12", "9520")])
    with at(store, user="U1") as session:
        say(session, f"?{BARCODES[0]}", "e", "1")
        frame = scanned(session, code, pace)
        assert frame.view.name == "store_product.value"
        assert frame.verdict is not None
        assert frame.verdict.text.id == "input.record_or_value", said(frame)
        frame = say(session, "y")
        assert frame.verdict is None or frame.verdict.text.id != "input.record_or_value"


def test_a_number_that_comes_a_little_slower_and_is_of_nothing_is_a_value(store: StoreFolder) -> None:
    with at(store, user="U1") as session:
        say(session, f"?{BARCODES[0]}", "e", "1")
        assert scanned(session, "6", 0.04).view.name == "store_product.confirm"
